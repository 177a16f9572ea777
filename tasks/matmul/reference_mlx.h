inline mx::array reference(const mx::array& a, const mx::array& b) { return mx::matmul(a, b); }
