package import JSON

/// The header of what the App Store signs.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/jwsdecodedheader
package struct JWSDecodedHeader: WireModel {
    /// `ES256`.
    package var alg: String?
    /// Base64 of three DER certificates: leaf, intermediate, root; data signed by Xcode has one.
    package var x5c: [String]?
    package var additional: [String: JSONValue] = [:]

    package init() {}

    package static let fields: [WireField<JWSDecodedHeader>] = [
        .init("alg", \.alg, isRequired: true),
        .init("x5c", \.x5c, isRequired: true),
    ]
}
