#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
// Swift's Glibc leaves these out.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#if LIBCURL_VERSION_NUM < 0x075800
#error "libcurl 7.88.0 or later is required"
#endif

// curl's option functions are variadic, and Swift cannot call those. One inline function per type of argument stands in
// for them, so that the compiler checks the type; which option takes which type is in curl_easy_setopt(3),
// curl_easy_getinfo(3) and curl_multi_setopt(3).

// The header replaces these functions by checking macros, which want the option as a literal.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

static inline CURLcode ccurl_easy_setopt_long(CURL *_Nonnull easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_offset(CURL *_Nonnull easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_string(CURL *_Nonnull easy, CURLoption option, const char *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_pointer(CURL *_Nonnull easy, CURLoption option, void *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_bytes(CURL *_Nonnull easy, CURLoption option, const void *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_list(
    CURL *_Nonnull easy, CURLoption option, struct curl_slist *_Nullable value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_writer(
    CURL *_Nonnull easy, CURLoption option, curl_write_callback _Nonnull value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_easy_setopt_prerequest(CURL *_Nonnull easy, curl_prereq_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode ccurl_easy_setopt_socket_option(CURL *_Nonnull easy, curl_sockopt_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, value);
}

static inline CURLcode ccurl_easy_setopt_open_socket(CURL *_Nonnull easy, curl_opensocket_callback _Nonnull value) {
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode ccurl_easy_getinfo_long(CURL *_Nonnull easy, CURLINFO info, long *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_easy_getinfo_offset(CURL *_Nonnull easy, CURLINFO info, curl_off_t *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_easy_getinfo_pointer(CURL *_Nonnull easy, CURLINFO info, void *_Nullable *_Nonnull value) {
    return curl_easy_getinfo(easy, info, value);
}

/// What the loaded library can do, in the form that this header knows.
static inline const curl_version_info_data *_Nullable ccurl_version_info(void) {
    return curl_version_info(CURLVERSION_NOW);
}

static inline CURLMcode ccurl_multi_setopt_long(CURLM *_Nonnull multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_socket_callback(
    CURLM *_Nonnull multi, curl_socket_callback _Nonnull value, void *_Nullable address) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, address);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, value) : code;
}

static inline CURLMcode ccurl_multi_set_timer_callback(
    CURLM *_Nonnull multi, curl_multi_timer_callback _Nonnull value, void *_Nullable address) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, address);
    return code == CURLM_OK ? curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, value) : code;
}

#endif
