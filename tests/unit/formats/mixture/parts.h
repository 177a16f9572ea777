#pragma once
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t unused(int64_t a) { return a; }
