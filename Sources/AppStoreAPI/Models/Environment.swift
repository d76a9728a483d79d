/// The server environment that a transaction belongs to.
///
/// Source: https://developer.apple.com/documentation/appstoreserverapi/environment
package struct Environment: OpenValue {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package static let production = Environment(rawValue: "Production")
    package static let sandbox = Environment(rawValue: "Sandbox")
    /// Local testing in Xcode: not signed by the App Store.
    package static let xcode = Environment(rawValue: "Xcode")
    /// Unit tests of Apple's libraries: not signed at all.
    package static let localTesting = Environment(rawValue: "LocalTesting")

    package static let known = [production, sandbox, xcode, localTesting]
}
