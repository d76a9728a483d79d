/// How notifications that Apple could not deliver are found.
package struct NotificationsConfiguration: Sendable, Equatable {
    /// The search in Apple's notification history; nil when it is switched off.
    package let history: History?

    package struct History: Sendable, Equatable {
        /// How long after the end of one search the next begins.
        package let interval: Duration
        /// How far back the first search of an app looks.
        package let firstLookBack: Duration

        package init(interval: Duration = .seconds(1800), firstLookBack: Duration = .seconds(72 * 3600)) {
            self.interval = interval
            self.firstLookBack = firstLookBack
        }
    }

    package init(history: History? = History()) {
        self.history = history
    }
}
