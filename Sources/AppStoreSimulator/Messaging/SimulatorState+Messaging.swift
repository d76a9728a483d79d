extension SimulatorState {
    /// What is set about Retention Messaging, for all apps.
    package var messagingSettings: MessagingSettings {
        get { withContent { $0.messaging.settings } }
        set { withContent { $0.messaging.settings = newValue } }
    }

    /// Says what the review of an image has come to.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func review(
        image identifier: String, of bundleID: String, in environment: SimulatedEnvironment, _ state: ReviewState
    ) throws(ControlError) {
        let isKnown = withContent {
            $0.messaging[bundleID, environment].review(image: identifier.lowercased(), state)
        }
        guard isKnown else { throw .notFound("there is no image \(identifier)") }
    }

    /// Says what the review of a message has come to.
    ///
    /// - Throws: ``ControlError/notFound(_:)``
    package func review(
        message identifier: String, of bundleID: String, in environment: SimulatedEnvironment, _ state: ReviewState
    ) throws(ControlError) {
        let isKnown = withContent {
            $0.messaging[bundleID, environment].review(message: identifier.lowercased(), state)
        }
        guard isKnown else { throw .notFound("there is no message \(identifier)") }
    }
}
