/// Which of Apple's two servers a call or a purchase belongs to.
///
/// Data of the environments `Xcode` and `LocalTesting` is refused everywhere, so they have no case.
/// Source: https://developer.apple.com/documentation/appstoreserverapi/environment
package enum AppStoreEnvironment: String, Sendable, Hashable, CaseIterable {
    case production = "Production"
    case sandbox = "Sandbox"
}
