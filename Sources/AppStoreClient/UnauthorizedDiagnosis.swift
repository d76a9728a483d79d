import Domain
import Foundation
import Logging
import Synchronization

/// Finds out why Apple answers 401, once for all who wait, and puts the standby key in the place of one that is refused.
///
/// | Cache | Key | Lifetime | Bound |
/// | --- | --- | --- | --- |
/// | findings | app and environment | 60 s; 1 h without a production release; 5 s undetermined | one an app and environment |
final class UnauthorizedDiagnosis: Sendable {
    /// What is to be done about a refused token.
    enum Conclusion: Sendable, Equatable {
        /// Another attempt may succeed: Apple takes the token now, or another key has taken over.
        case tryAgain
        case refused(UnauthorizedFinding)
    }

    private struct Held {
        let finding: UnauthorizedFinding
        /// For which bundle id; a reload may bring the app another.
        let bundleID: String
        let expires: ContinuousClock.Instant
    }

    private let probe: TokenProbe
    private let tokens: any TokenSource
    private let clock: ServiceClock
    private let meter: UpstreamMeter
    private let logger: Logger
    private let acceptance: TokenAcceptance
    private let findings = Mutex<[AppEnvironment: Held]>([:])
    private let examinations: SingleFlight<AppEnvironment, Conclusion>

    init(
        probe: TokenProbe, tokens: any TokenSource, acceptance: TokenAcceptance, clock: ServiceClock,
        meter: UpstreamMeter, logger: Logger
    ) {
        self.probe = probe
        self.tokens = tokens
        self.acceptance = acceptance
        self.clock = clock
        self.meter = meter
        self.logger = logger
        examinations = SingleFlight(clock: clock)
    }

    /// Takes note of an answer of Apple's other than 401: below 500 it shows that the token was taken.
    func noteAnswer(_ status: Int, keyID: String, app: App, in environment: AppStoreEnvironment) {
        guard status < 500, status != 429 else { return }
        acceptance.note(keyID: keyID, app: app, in: environment, at: clock.monotonicNow())
    }

    /// Why calls with this key would fail, if that is known.
    func finding(for app: App, in environment: AppStoreEnvironment, keyID: String) -> UnauthorizedFinding? {
        held(app, environment, keyID: keyID).flatMap { $0.stopsCalls ? $0 : nil }
    }

    /// Finds out why Apple refuses an app's token, or waits for whoever is finding out.
    ///
    /// - Returns: nil when the time was over before.
    func examine(
        _ app: App, in environment: AppStoreEnvironment, until deadline: ContinuousClock.Instant
    ) async -> Conclusion? {
        let origin = AppEnvironment(app: app.slug, environment: environment)
        return await examinations.share(origin, until: deadline) { deadline in
            await self.conclude(app, environment, deadline)
        }
    }

    private func conclude(
        _ app: App, _ environment: AppStoreEnvironment, _ deadline: CallDeadline
    ) async -> Conclusion {
        guard let token = try? tokens.token(for: app) else { return .tryAgain }
        if let known = held(app, environment, keyID: token.keyID) { return .refused(known) }
        let answer = await probe.ask(token, app, environment, within: clock.remaining(until: deadline.instant))
        switch answer {
        case .accepted:
            keep(UnauthorizedFinding(.refusedForSomeCalls, keyID: token.keyID), app, environment)
            return .tryAgain
        case .nothing:
            return .refused(undetermined(token, app, environment, deadline))
        case .refused(let appleTime):
            if let skew = appleTime.flatMap({ skew(of: token, appleTime: $0) }) {
                return .refused(keep(UnauthorizedFinding(.clockSkew(skew), keyID: token.keyID), app, environment))
            }
            if await standbyTakesOver(from: token, app, environment, deadline) { return .tryAgain }
            guard let cause = await causeInKey(token, app, environment, deadline) else {
                return .refused(undetermined(token, app, environment, deadline))
            }
            return .refused(keep(UnauthorizedFinding(cause, keyID: token.keyID), app, environment))
        }
    }

    /// How far the clocks differ, if that is why Apple refuses the token: by Apple's clock it is not valid yet, or no
    /// longer.
    private func skew(of token: BearerToken, appleTime: Date) -> UnauthorizedFinding.Skew? {
        let ahead = Int(clock.now().timeIntervalSince(appleTime).rounded())
        // `Date` has whole seconds, so that Apple's clock may show up to one more.
        if appleTime.addingTimeInterval(1) <= token.issuedAt { return .ahead(seconds: ahead) }
        if appleTime >= token.expiresAt { return .behind(seconds: -ahead) }
        return nil
    }

    /// Puts a standby key in the active one's place, if Apple takes it here, where it refuses the active one.
    private func standbyTakesOver(
        from refused: BearerToken, _ app: App, _ environment: AppStoreEnvironment, _ deadline: CallDeadline
    ) async -> Bool {
        for standby in tokens.standbyTokens(for: app) {
            let answer = await probe.ask(
                standby, app, environment, within: clock.remaining(until: deadline.instant))
            guard answer == .accepted else { continue }
            guard tokens.activate(standby, insteadOf: refused, for: app) else { return true }
            logger.warning(
                "A standby key has taken over from one that Apple refuses",
                metadata: [
                    "app": "\(app.slug)", "environment": "\(environment.rawValue)", "key_id": "\(standby.keyID)",
                    "refused_key_id": "\(refused.keyID)",
                ])
            return true
        }
        // Whoever looked into the other environment may have been quicker, and no key stands by any more.
        let present = try? tokens.token(for: app)
        return present.map { $0.keyID != refused.keyID } ?? false
    }

    /// What is wrong with a key that is refused by a clock that agrees with ours; nil when Apple does not answer, or the store
    /// does not tell what decides.
    private func causeInKey(
        _ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, _ deadline: CallDeadline
    ) async -> UnauthorizedFinding.Cause? {
        let other: AppStoreEnvironment = environment == .production ? .sandbox : .production
        switch await probe.ask(token, app, other, within: clock.remaining(until: deadline.instant)) {
        case .nothing:
            return nil
        case .accepted:
            guard environment == .production else { return .refusedHere }
            return await acceptance.hasSucceededInProduction(app).map { $0 ? .refusedHere : .noProductionRelease }
        case .refused:
            let isKeyGood = acceptance.isAcceptedForOthers(keyID: token.keyID, than: app, at: clock.monotonicNow())
            return isKeyGood ? .bundleIDRefused : .keyRefused
        }
    }
}

// MARK: Findings

extension UnauthorizedDiagnosis {
    /// The finding in force, if it is about the key that signs now and the bundle id of now.
    private func held(_ app: App, _ environment: AppStoreEnvironment, keyID: String) -> UnauthorizedFinding? {
        let (now, origin) = (clock.monotonicNow(), AppEnvironment(app: app.slug, environment: environment))
        return findings.withLock { findings in
            guard let held = findings[origin], held.finding.keyID == keyID, held.bundleID == app.bundleID,
                now < held.expires
            else { return nil }
            var finding = held.finding
            finding.retryAfter = now.duration(to: held.expires)
            return finding
        }
    }

    /// The finding that Apple did not answer, which is kept only if Apple had the time to: no caller in a hurry may stop the
    /// calls of others.
    private func undetermined(
        _ token: BearerToken, _ app: App, _ environment: AppStoreEnvironment, _ deadline: CallDeadline
    ) -> UnauthorizedFinding {
        let finding = UnauthorizedFinding(.undetermined, keyID: token.keyID)
        guard clock.remaining(until: deadline.instant) > .zero, !Task.isCancelled else { return finding }
        return keep(finding, app, environment)
    }

    @discardableResult
    private func keep(_ finding: UnauthorizedFinding, _ app: App, _ environment: AppStoreEnvironment)
        -> UnauthorizedFinding
    {
        let expires = clock.monotonicNow() + finding.lifetime
        let origin = AppEnvironment(app: app.slug, environment: environment)
        findings.withLock { $0[origin] = Held(finding: finding, bundleID: app.bundleID, expires: expires) }
        meter.countFinding(finding.name, app: app.slug, environment: environment)
        let isFault = finding.cause != .noProductionRelease && finding.stopsCalls
        logger.log(
            level: isFault ? .error : .warning, "Apple refuses an app's token",
            metadata: [
                "app": "\(app.slug)", "environment": "\(environment.rawValue)", "cause": "\(finding.name)",
                "key_id": "\(finding.keyID)",
            ])
        var told = finding
        told.retryAfter = finding.lifetime
        return told
    }
}

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
