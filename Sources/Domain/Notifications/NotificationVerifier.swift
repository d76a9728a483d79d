/// Tells whether Apple signed a notification, without asking anybody.
package protocol NotificationVerifier: Sendable {
    /// Verifies and decodes a signed notification of an app; the environment is the one that it names.
    ///
    /// - Returns: the notification.
    /// - Throws: `signatureInvalid` when Apple did not sign it; `notificationMisdirected` when Apple did, but not for this app
    ///   or an environment that it is configured for, or when something in it does not fit; `environmentNotSupported` for data that Xcode signed;
    ///   `verificationBusy` when too many unknown certificate chains are being checked already.
    func notification(_ signed: String, app: App) async throws(ServiceError) -> AppleNotification
}
