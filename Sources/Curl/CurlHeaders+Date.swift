import CCurl
package import Foundation

extension CurlHeaders {
    /// When the server says that it answered: the `Date` field, to the second.
    ///
    /// Nil when there is none, or none that can be read.
    /// Source: RFC 9110 section 6.6.1; https://curl.se/libcurl/c/curl_getdate.html
    package var date: Date? {
        guard let text = self["Date"] else { return nil }
        let seconds = curl_getdate(text, nil)
        return seconds == -1 ? nil : Date(timeIntervalSince1970: TimeInterval(seconds))
    }
}
