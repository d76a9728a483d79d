import Domain
import Foundation
import Logging

extension ConfigurationValue<StoreLocation> {
    static var storeLocation: Self {
        Self(expectation: "`sqlite:` and the absolute path of the database file") { text in
            guard text.hasPrefix("sqlite:/"), !text.hasSuffix("/") else { return nil }
            return .sqlite(path: String(text.dropFirst("sqlite:".count)))
        }
    }
}

extension ConfigurationValue<Int64> {
    /// Apple's number of an app.
    static var appAppleID: Self {
        Self(expectation: "Apple's number of the app, a positive whole number") { text in
            Int64(text).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension ConfigurationValue<[UInt8]> {
    /// A SHA-256 digest; somebody may paste the token itself, so no message repeats it.
    static var tokenDigest: Self {
        Self(
            expectation: "the SHA-256 of the token in 64 hexadecimal digits, as `purser callers hash` prints it",
            isSecret: true
        ) { text in
            let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
            guard digits.count == 64, text.utf8.count == 64 else { return nil }
            return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
        }
    }
}

extension ConfigurationValue<String> {
    /// The name of an app in our paths, or of a caller.
    static var slug: Self {
        word("1 to 63 lower-case letters, digits and hyphens, not beginning with a hyphen", 1...63) { text in
            text.first != "-" && text.allSatisfy { $0 == "-" || $0.isNumber || $0.isLowercase }
        }
    }

    /// Apple's id of a key: ten capitals and digits today, but the length is Apple's to change.
    static var keyID: Self {
        word("Apple's id of the key, 1 to 64 letters and digits", 1...64) { text in
            text.allSatisfy { $0.isLetter || $0.isNumber }
        }
    }

    /// Apple's id of a team's App Store Connect account (RFC 9562 writes UUIDs so).
    static var issuerID: Self {
        word("the issuer id that App Store Connect shows above the keys, a UUID", 36...36) { text in
            UUID(uuidString: text) != nil
        }
    }

    static var bundleID: Self {
        word("a bundle id: letters, digits, hyphens and dots", 1...155) { text in
            text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" || $0 == "." }
        }
    }

    /// A field of a JSON object.
    static var fieldName: Self {
        word("the name of a field, letters and digits", 1...64) { text in
            text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isNumber }
        }
    }

    static var absolutePath: Self {
        Self(expectation: "an absolute path") { $0.hasPrefix("/") && !$0.contains("\0") ? $0 : nil }
    }

    /// A file of `$CREDENTIALS_DIRECTORY`.
    static var credentialName: Self {
        word("the name of a credential: letters, digits, `.`, `_` and `-`", 1...255) { text in
            text.first != "." && text.allSatisfy { $0.isLetter || $0.isNumber || "._-".contains($0) }
        }
    }

    /// The base URL of a server, without its trailing slash.
    static var httpsURL: Self {
        Self(expectation: "an `https://` URL without user, query or fragment") { text in
            guard let url = URLComponents(string: text), url.scheme == "https", url.host?.isEmpty == false,
                url.user == nil, url.password == nil, url.query == nil, url.fragment == nil
            else { return nil }
            return text.hasSuffix("/") ? String(text.dropLast()) : text
        }
    }

    /// The URL of a proxy; it may hold a password.
    static var proxyURL: Self {
        Self(expectation: "the URL of a proxy, such as `http://proxy:3128`", isSecret: true) { text in
            guard let url = URLComponents(string: text), url.host?.isEmpty == false,
                ["http", "https", "socks5", "socks5h"].contains(url.scheme ?? "")
            else { return nil }
            return text
        }
    }

    /// ASCII text of a bounded length that passes a test.
    private static func word(
        _ expectation: String, _ length: ClosedRange<Int>, where isValid: @escaping (String) -> Bool
    ) -> Self {
        Self(expectation: expectation) { text in
            length.contains(text.utf8.count) && text.allSatisfy(\.isASCII) && isValid(text) ? text : nil
        }
    }
}
