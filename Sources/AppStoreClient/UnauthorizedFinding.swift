import Domain

/// Why Apple refuses an app's token, as far as it could be found out.
struct UnauthorizedFinding: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
        /// By Apple's clock the token is not valid yet, or no longer.
        case clockSkew(Skew)
        /// Neither environment takes the key.
        case keyRefused
        /// Apple takes the key for another app, but not for this one.
        case bundleIDRefused
        /// Production refuses an app that the sandbox knows, and that never succeeded in Production.
        case noProductionRelease
        /// One environment takes the token, the other does not.
        case refusedHere
        /// Apple takes the token, but not for every call.
        case refusedForSomeCalls
        /// Apple did not answer the question.
        case undetermined
    }

    /// How far our clock and Apple's differ.
    enum Skew: Sendable, Equatable {
        case ahead(seconds: Int)
        case behind(seconds: Int)
    }

    let cause: Cause
    /// The key that signed the refused token.
    let keyID: String
    /// How long calls need not be tried again; set when it is told.
    var retryAfter: Duration?

    init(_ cause: Cause, keyID: String) {
        self.cause = cause
        self.keyID = keyID
    }

    /// The cause in one word, for metrics and logs.
    var name: String {
        switch cause {
        case .clockSkew: "clock_skew"
        case .keyRefused: "key_refused"
        case .bundleIDRefused: "bundle_id_refused"
        case .noProductionRelease: "no_production_release"
        case .refusedHere: "refused_here"
        case .refusedForSomeCalls: "refused_for_some_calls"
        case .undetermined: "undetermined"
        }
    }

    /// Whether calls are certain to fail, so that they need not be made.
    var stopsCalls: Bool { cause != .refusedForSomeCalls }

    /// How long the finding holds.
    var lifetime: Duration {
        switch cause {
        case .noProductionRelease: .seconds(3600)
        case .undetermined: .seconds(5)
        case .clockSkew, .keyRefused, .bundleIDRefused, .refusedHere, .refusedForSomeCalls: .seconds(60)
        }
    }
}

extension UnauthorizedFinding {
    /// What to tell the caller.
    ///
    /// `apple`: Apple's answer, if there was one this time.
    func error(apple: AppleFailure?) -> ServiceError {
        let isReleaseMissing = cause == .noProductionRelease
        return ServiceError(
            isReleaseMissing ? .noProductionRelease : .appleUnauthorized, message, cause: "\(name), key \(keyID)",
            retryAfter: isReleaseMissing ? nil : retryAfter, apple: apple)
    }

    private var message: String {
        switch cause {
        case .clockSkew(.ahead(let seconds)):
            "Apple refuses our tokens because this machine's clock is \(seconds) seconds ahead; it must be set."
        case .clockSkew(.behind(let seconds)):
            "Apple refuses our tokens because this machine's clock is \(seconds) seconds behind; it must be set."
        case .keyRefused:
            "Apple refuses key \(keyID): it is revoked or unknown, or issuer id or bundle id do not go with it."
        case .bundleIDRefused:
            "Apple takes key \(keyID) for another app but not for this one; its bundle id must be looked at."
        case .noProductionRelease:
            "The app has no release in Production yet; Apple answers for it in the sandbox only."
        case .refusedHere:
            "Apple refuses key \(keyID) in this environment but takes it in the other."
        case .refusedForSomeCalls:
            "Apple refuses this call's token but takes it for other calls."
        case .undetermined:
            "Apple refuses our token, and the cause could not be found."
        }
    }
}
