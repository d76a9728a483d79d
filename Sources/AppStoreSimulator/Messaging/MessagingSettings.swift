/// What can be set about Retention Messaging.
package struct MessagingSettings: Sendable, Hashable {
    /// In which environments what is uploaded is approved at once.
    package var automaticApproval: Set<SimulatedEnvironment> = [.sandbox]
    /// Images that an app may have, as Apple publishes it.
    package var imageQuota = 2000
    /// Messages that an app may have; Apple publishes no number.
    package var messageQuota = 2000
    /// Whether identifiers in capitals are refused; Apple's libraries disagree on them.
    package var requiresLowercaseIdentifiers = false
    /// Whether realtime URLs may be without TLS, which Apple does not allow.
    package var allowsPlainRealtimeURLs = false
    /// Certificates (PEM) to trust in place of the system's when a realtime URL is tested.
    package var certificateAuthorities: String?

    package init() {}
}
