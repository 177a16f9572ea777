#if BASE_2
inline float power(float x) { return metal::exp2(x * M_LOG2E_F); }
#else
inline float power(float x) { return metal::exp(x); }
#endif
