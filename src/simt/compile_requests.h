// What the compiler is asked for, step by step: preprocess, compile against our headers, link.
#pragma once

#include "simt/cuda/headers.h"
#include "simt/object.h"

namespace ksearch::simt {

toolchain::CompileRequest preprocessing(const Case& all, const std::string& source);
toolchain::CompileRequest preprocessing_cuda(const Case& all, const cuda::EmptyHeaders& empty);

std::vector<std::string> compile_flags(const BuildOptions& options, Dialect dialect);
/// Of the code that a trace counts in.
std::vector<std::string> traced_flags(Dialect dialect);
/// Our headers, parsed once for all kernels.
toolchain::CompileRequest prelude(std::vector<std::string> flags, Dialect dialect);
/// What kernels call in them, compiled once for all kernels.
toolchain::CompileRequest device_library(std::vector<std::string> flags, Dialect dialect);
toolchain::CompileRequest compilation(const std::string& source, std::vector<std::string> flags,
                                      const std::string& prelude);
/// LLVM's text to an object.
toolchain::CompileRequest lowering(std::string text);
toolchain::CompileRequest linking(const toolchain::Built& object, const toolchain::Built& library);

}  // namespace ksearch::simt
