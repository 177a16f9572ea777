// Functions of integers, in all widths and as vectors.
#include <metal_stdlib>
using namespace metal;

//# launch bits size=32
//# buffer x=u32:32:iota
//# buffer y=u32:160
//# expect y[i] = i < 32 ? bits(x[i]) : i < 64 ? (i == 32 ? 32 : 31 - floor(log(i - 32 + 0.5) / log(2))) : i < 96 ? (i == 64 ? 32 : i % 2 == 1 ? 0 : i % 4 == 2 ? 1 : i % 8 == 4 ? 2 : i % 16 == 8 ? 3 : 4) : i < 128 ? sum(k, 0, 32, ((i - 96) >> k & 1) << (31 - k)) : ((i - 128) << 4 | (i - 128) >> 28)
kernel void bits(device const uint* x [[buffer(0)]], device uint* y [[buffer(1)]],
                 uint i [[thread_position_in_grid]]) {
  y[i] = popcount(x[i]);
  y[32 + i] = clz(x[i]);
  y[64 + i] = ctz(x[i]);
  y[96 + i] = reverse_bits(x[i]);
  y[128 + i] = rotate(x[i], 4u);
}

//# launch bits_of_widths size=1
//# buffer x=u32:1:ints:1
//# buffer y=i32:14
//# expect y = 7, 15, 63, 8, 16, 64, 128, 8, -128, 3, 1, 4, 33, 16
kernel void bits_of_widths(device const uint* x [[buffer(0)]], device int* y [[buffer(1)]]) {
  const uint one = x[0];
  y[0] = clz(uchar(one));
  y[1] = clz(ushort(one));
  y[2] = int(clz(ulong(one)));
  y[3] = ctz(uchar(one - 1));
  y[4] = ctz(ushort(one - 1));
  y[5] = int(ctz(ulong(one - 1)));
  y[6] = reverse_bits(uchar(one));
  y[7] = popcount(char(-int(one)));
  y[8] = reverse_bits(char(one));
  y[9] = rotate(uchar(0x81), uchar(one));
  y[10] = rotate(short(1), short(16 * one));
  const uint2 counts = popcount(uint2(one, 15u));
  y[11] = int(counts.y);
  y[12] = int(ctz(ulong(one) << 33));
  y[13] = clz(short4(0, 1, 2, 3)).x;
}

//# launch bit_fields size=16
//# buffer x=u32:16:iota:0:4369
//# buffer y=i32:48
//# expect y[i] = i < 16 ? (x[i] >> 4 & 255) : i < 32 ? ((x[i - 16] & 15) ^ 8) - 8 : (x[i - 32] & 65295 | 160)
kernel void bit_fields(device const uint* x [[buffer(0)]], device int* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  y[i] = int(extract_bits(x[i], 4u, 8u));
  y[16 + i] = extract_bits(int(x[i]), 0u, 4u);
  y[32 + i] = int(insert_bits(x[i], 10u, 4u, 4u));
}

//# launch high_products size=16
//# buffer x=u32:16:iota:1:268435455
//# buffer y=u32:64
//# expect y[i] = i < 16 ? floor(x[i] * 3000000000 / 4294967296) : i < 32 ? floor(x[i - 16] * 3000000000 / 4294967296) + 5 : i < 48 ? ((x[i - 32] & 4095) * 77) : ((x[i - 48] & 4095) * 77 + 9)
kernel void high_products(device const uint* x [[buffer(0)]], device uint* y [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  y[i] = mulhi(x[i], 3000000000u);
  y[16 + i] = madhi(x[i], 3000000000u, 5u);
  y[32 + i] = mul24(x[i] & 4095u, 77u);
  y[48 + i] = mad24(x[i] & 4095u, 77u, 9u);
}

//# launch signed_high_products size=1
//# buffer x=i32:1:ints:-7
//# buffer y=i64:4
//# expect y = -1, -4, -1, -3000
kernel void signed_high_products(device const int* x [[buffer(0)]], device long* y [[buffer(1)]]) {
  y[0] = mulhi(x[0], 3);
  y[1] = mulhi(x[0], 0x7fffffff);
  y[2] = mulhi(long(x[0]), 5l);
  y[3] = mulhi(short(x[0] * 1000), short(28086));
}

//# launch saturation size=8
//# buffer x=i32:8:ints:-128:-100:-1:0:1:50:100:127
//# buffer y=i32:80
//# expect y[i] = i < 8 ? min(x[i] + 100, 127) : i < 16 ? max(x[i - 8] - 100, -128) : i < 24 ? min((x[i - 16] & 255) + 100, 255) : i < 32 ? max((x[i - 24] & 255) - 100, 0) : i < 40 ? abs(x[i - 32] - 7) : i < 48 ? floor((x[i - 40] + 7) / 2) : i < 56 ? floor((x[i - 48] + 8) / 2) : i < 64 ? min(max(x[i - 56], -5), 60) : i < 72 ? abs(x[i - 64]) : max(min(x[i - 72], 1), -2)
kernel void saturation(device const int* x [[buffer(0)]], device int* y [[buffer(1)]],
                       uint i [[thread_position_in_grid]]) {
  const char c = char(x[i]);
  const uchar u = uchar(x[i]);
  y[i] = addsat(c, char(100));
  y[8 + i] = subsat(c, char(100));
  y[16 + i] = addsat(u, uchar(100));
  y[24 + i] = subsat(u, uchar(100));
  y[32 + i] = absdiff(x[i], 7);
  y[40 + i] = hadd(x[i], 7);
  y[48 + i] = rhadd(x[i], 7);
  y[56 + i] = clamp(x[i], -5, 60);
  y[64 + i] = abs(x[i]);
  y[72 + i] = median3(x[i], 1, -2);
}

//# launch order_of_integers size=8
//# buffer x=i32:8:iota:-4
//# buffer y=i64:40
//# expect y[i] = i < 8 ? min(x[i], 1) : i < 16 ? max(x[i - 8], 1) : i < 24 ? min(min(x[i - 16], 0), 2) : i < 32 ? max(max(x[i - 24], 0), 2) : (x[i - 32] < 0 ? 4294967296 + x[i - 32] : 7)
kernel void order_of_integers(device const int* x [[buffer(0)]], device long* y [[buffer(1)]],
                              uint i [[thread_position_in_grid]]) {
  y[i] = min(x[i], 1);
  y[8 + i] = max(x[i], 1);
  y[16 + i] = min3(x[i], 0, 2);
  y[24 + i] = max3(x[i], 0, 2);
  y[32 + i] = max(uint(x[i]), 7u);
}

//# launch wide_arithmetic size=4
//# buffer x=i64:4:iota:1000000007:998244353
//# buffer y=i64:24
//# expect y[i] = i < 4 ? x[i] * 3 - 7 : i < 8 ? floor(x[i - 4] / 1000) : i < 12 ? x[i - 8] % 1000 : i < 16 ? (x[i - 12] << 3) : i < 20 ? (x[i - 16] >> 5) : (x[i - 20] ^ 4294967295)
kernel void wide_arithmetic(device const int64_t* x [[buffer(0)]], device int64_t* y [[buffer(1)]],
                            uint i [[thread_position_in_grid]]) {
  y[i] = x[i] * 3 - 7;
  y[4 + i] = x[i] / 1000;
  y[8 + i] = x[i] % 1000;
  y[12 + i] = x[i] << 3;
  y[16 + i] = x[i] >> 5;
  y[20 + i] = x[i] ^ 0xffffffffl;
}
