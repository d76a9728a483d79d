import AppStoreAPI

/// Something that happened to a purchase or subscription, of which Apple notifies the app.
struct LifecycleEvent: Sendable {
    /// What it is about.
    enum Subject: Sendable {
        /// A transaction, by its id.
        case transaction(String)
        /// A mass extension as a whole.
        case summary(Summary)
    }

    let type: NotificationTypeV2
    let subtype: Subtype?
    let subject: Subject
    let app: AppInEnvironment
    /// UNIX milliseconds.
    let date: Int64
}
