import CCurl

/// The libcurl that this process runs with.
package enum CurlLibrary {
    /// The library's name and version, and those of what it is built on, as `libcurl/8.5.0 OpenSSL/3.0.13 …`.
    package static var version: String { String(cString: curl_version()) }

    /// The outcome of `curl_global_init`, which runs when this is first read, once per process.
    private static let initialization = curl_global_init(Int(CURL_GLOBAL_SSL))

    /// The oldest libcurl that behaves as this module expects: 7.88.0.
    private static let oldestVersion: UInt32 = 0x07_58_00

    /// Initialises the library, unless that has been done, and checks that it can do what this module promises.
    ///
    /// The header that we were compiled with says nothing of the shared library that is loaded, so version and HTTP/2
    /// support are looked at here.
    ///
    /// - Throws: ``CurlError`` of kind ``CurlError/Kind/other`` when the library cannot be used.
    static func initialize() throws(CurlError) {
        guard initialization == CURLE_OK else { throw CurlError(initialization, during: "curl_global_init") }
        guard let information = ccurl_version_info()?.pointee else {
            throw CurlError(CURLE_FAILED_INIT, during: "curl_version_info")
        }
        guard information.version_num >= oldestVersion, information.features & CURL_VERSION_HTTP2 != 0 else {
            throw CurlError(
                CURLE_FAILED_INIT, during: "curl_version_info",
                detail: "libcurl 7.88.0 or later with HTTP/2 is needed, found \(version)")
        }
    }
}
