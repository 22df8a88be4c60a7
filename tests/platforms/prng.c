/* Stands in for Windows' bcryptprimitives.dll, which older versions of Wine lack. Hash tables of the
   library take their seeds from it. */
__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *bytes, unsigned long long count) {
    static unsigned seed = 1;
    unsigned long long i;
    for (i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return 1;
}
