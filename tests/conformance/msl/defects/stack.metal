// More private memory than a thread has.
#include <metal_stdlib>
using namespace metal;

//# launch endless size=1
//# buffer n=i32:1:const:100000
//# buffer y=i32:1
//# finds stack_overflow
int deeper(int n) {
  volatile int kept[64];
  kept[n % 64] = n;
  return n == 0 ? 0 : deeper(n - 1) + kept[n % 64];
}
kernel void endless(constant int& n [[buffer(0)]], device int* y [[buffer(1)]]) { y[0] = deeper(n); }
