import AppStoreAPI
import Domain
import Listener
package import Logging

/// Every default of the configuration and every bound on its values, section by section.
///
/// What is here is what `docs/configuration.md` and `deploy/config/purser.yaml` tell operators; tests hold the latter to it.
/// What a name, an id or a URL may look like is in `ConfigurationValue.swift`; which sections there are, and what they mean
/// together, in the file of each section. The rates that Apple publishes are in `PublishedRateLimits.swift`.
package enum ConfigurationDefaults {
    /// Where the commands look for the configuration unless they are told.
    package static let file = "/etc/purser/purser.yaml"
    /// The largest configuration file read, in bytes.
    package static let maximumFileBytes = 8 * mebibyte
    /// The most elements that a file may have, which also bounds what its aliases can expand to; ten thousand apps with five scopes each take 100,000.
    static let maximumFileElements = 1_000_000
    /// The most keys given twice that are looked for; with more, only the next one is reported.
    static let maximumDuplicateKeys = 100
    /// Where the credentials of the unit are unless `$CREDENTIALS_DIRECTORY` says it.
    static let credentialsDirectory = "/run/credentials/purser.service"

    /// `log.level`: the least severe level that is logged.
    package static let logLevel = Logger.Level.info

    /// `audit`: where it is recorded what was done.
    package enum Audit {
        /// `audit.retention`: what a year's audit asks about, and the time to do it.
        package static let retention = BoundedSetting.duration(.days(400), in: .days(30) ... .days(36_500))
        /// `audit.reserveBytes`: some ten thousand records.
        package static let reserveBytes = BoundedSetting.bytes(4 * mebibyte, in: mebibyte...1024 * mebibyte)
    }

    /// `listeners`: where each is bound, and what it takes at most.
    package enum Listeners {
        /// `listeners.api.address`.
        static let api = ListenerChoice.at(.tcp(host: "127.0.0.1", port: 8080))
        /// `listeners.grpc.address`: off unless somebody wants it.
        static let grpc = ListenerChoice.none
        /// `listeners.webhook.address`.
        static let webhook = ListenerChoice.at(.tcp(host: "127.0.0.1", port: 8081))
        /// `listeners.admin.allowEverybody` and `listeners.grpcAdmin.allowEverybody`.
        package static let allowEverybody = false
        /// `listeners.admin.address`, and `listeners.admin.mode`, which any other Unix socket has too.
        static let admin = ListenerChoice.at(.unix(path: "/run/purser/admin.sock", mode: 0o600))
        /// `listeners.grpcAdmin.address`: off unless somebody wants it; a Unix socket like that of `admin`.
        static let grpcAdmin = ListenerChoice.none
        /// `listeners.health.address`.
        static let health = ListenerChoice.at(.tcp(host: "127.0.0.1", port: 9090))
        /// `listeners.appleProduction.address` and `listeners.appleSandbox.address`: off unless somebody wants them.
        static let appleProxy = ListenerChoice.none

        /// `listeners.grpc.reflection`; operators may always ask what there is to call.
        package static let reflection = false
        /// `listeners.….tls.clientCertificates`, where `clientCertificateAuthorities` is given.
        static let clientCertificates = ClientCertificateDemand.required
        /// How often the files of `listeners.….tls` are looked at for changes.
        static let tlsRefreshInterval = Duration.seconds(5)

        /// `listeners.….maximumConnections`: for more, those go that rest, or the new ones wait.
        package static let maximumConnections = BoundedSetting.count(1024, in: 1...100_000)
        /// `listeners.….maximumRequests`: more are shed with 503.
        ///
        /// Somewhat more than the calls that go to Apple at once, since more would only wait for those; and few enough for
        /// the last of them to be answered soon.
        /// `admin` and `health` have no bound: whoever asks how the daemon is must hear it above all when it is busy.
        package static let maximumRequests = BoundedSetting.count(256, in: 1...100_000)
        /// `listeners.….maximumHeaderBytes`: the largest request head.
        package static let maximumHeaderBytes = BoundedSetting.bytes(32 * kibibyte, in: kibibyte...mebibyte)
        /// `listeners.….maximumBodyBytes`: the largest request body.
        package static let maximumBodyBytes = BoundedSetting.bytes(mebibyte, in: kibibyte...64 * mebibyte)
        /// `listeners.api.maximumBodyBytes` and `listeners.grpc.maximumBodyBytes`: wide enough for the longest receipt.
        package static let apiMaximumBodyBytes = BoundedSetting.bytes(12 * mebibyte, in: maximumBodyBytes.range)
        /// `listeners.appleProduction.maximumBodyBytes` and `listeners.appleSandbox.maximumBodyBytes`: wide enough for an
        /// image.
        package static let appleProxyMaximumBodyBytes = BoundedSetting.bytes(10 * mebibyte, in: maximumBodyBytes.range)
        /// `listeners.….idleTimeout`: how long a connection may stay silent.
        package static let idleTimeout = BoundedSetting.duration(.seconds(75), in: .seconds(1) ... .hours(1))
    }

    /// `apple`: how Apple is called.
    package enum Apple {
        /// What each of the following three may be; each must fit into the next.
        private static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .minutes(10)
        /// `apple.connectTimeout`: longest wait for a connection, TLS handshake included.
        package static let connectTimeout = BoundedSetting.duration(.seconds(5), in: timeouts)
        /// `apple.attemptTimeout`: longest duration of one attempt.
        package static let attemptTimeout = BoundedSetting.duration(.seconds(15), in: timeouts)
        /// `apple.deadline`: longest duration of one call with all its attempts.
        package static let deadline = BoundedSetting.duration(.seconds(25), in: timeouts)
        /// `apple.maximumResponseBytes`: the largest answer taken.
        package static let maximumResponseBytes = BoundedSetting.bytes(8 * mebibyte, in: 64 * kibibyte...256 * mebibyte)

        /// `apple.rateLimits.sandboxShare`, in percent of the limits in production.
        package static let sandboxShare = BoundedSetting.percent(PublishedRateLimits.sandboxPercent, in: 1...100)
        /// `apple.rateLimits.reservedShare`, in percent of a limit.
        package static let reservedShare = BoundedSetting.percent(20, in: 0...90)
        /// `apple.rateLimits.requestsPerSecond.…`; what is left out is as Apple publishes it.
        static let requestsPerSecond = 1...100_000
    }

    /// `apps`: what has no default but bounds.
    enum Apps {
        /// `apps.….consumptionPolicy.answer.consumptionPercentage` in thousandths of a percent, as Apple counts.
        static let consumptionPercentage = 0...100_000
        /// The most entries of `apps.….ignoredTokens`: each stands for a mistake in a release of the app.
        static let maximumIgnoredTokens = 100
    }

    /// `callers`: what has no default but bounds.
    enum Callers {
        /// `callers.….callsPerHour`; what is left out is bounded by Apple's limits alone.
        static let callsPerHour = 1...100_000_000
        /// The most entries of `callers.….tokenSHA256`: the new token and the one that it replaces.
        static let maximumTokens = StoredCaller.maximumUsableTokens
    }

    /// `access`: what lasts of callers' credentials; the defaults are those of `Domain`'s `CallerPolicy`.
    enum Access {
        private static let policy = CallerPolicy()
        /// `access.rotationGrace`: how long a token stays usable beside the one that replaces it.
        static let rotationGrace = BoundedSetting.duration(policy.rotationGrace, in: .zero ... .days(30))
        /// `access.expiryWarning`: how long before the end of a caller's last token it is warned of.
        static let expiryWarning = BoundedSetting.duration(policy.expiryWarning, in: .zero ... .days(90))
        /// `access.unusedWarning`: after how long without use a caller is told of.
        static let unusedWarning = BoundedSetting.duration(policy.unusedWarning, in: .days(1) ... .days(3650))
    }

    /// `keyWarnings`: what is said of keys before it hurts; each may also be `off`.
    package enum KeyWarnings {
        private static let range: ClosedRange<Duration> = .days(1) ... .days(36_500)
        /// `keyWarnings.maximumAge`: a year, as for other credentials; Apple's keys do not expire.
        package static let maximumAge = BoundedSetting.duration(.days(365), in: range)
        /// `keyWarnings.unusedFor`.
        package static let unusedFor = BoundedSetting.duration(.days(90), in: range)
    }

    /// `deliveries`: how answers about consumption are sent.
    package enum Deliveries {
        /// `deliveries.concurrency`: how many are sent at the same time.
        package static let concurrency = BoundedSetting.count(64, in: 1...1000)
        /// `deliveries.wait`: how long a caller waits for the outcome unless its `Prefer` header says otherwise.
        package static let wait = BoundedSetting.duration(.seconds(5), in: .zero ... .minutes(1))
        /// How much of that wait Apple is given to say what the answer is about; no setting.
        package static let lookUp = Duration.seconds(2)
    }

    /// `cases`: how refund cases are watched.
    package enum Cases {
        /// `cases.warnBefore`, the longest first.
        package static let warnBefore: [Duration] = [.hours(6), .hours(1)]
        /// What each of them may be.
        static let warnBeforeRange: ClosedRange<Duration> = .minutes(1)...answerWindow
    }

    /// `notifications`: how those are found that Apple could not deliver.
    package enum Notifications {
        /// `notifications.history.interval`, which may also be `off`.
        package static let historyInterval = BoundedSetting.duration(.minutes(30), in: .minutes(1) ... .hours(12))
        /// `notifications.history.firstLookBack`; Apple's history reaches back 180 days in Production.
        package static let historyFirstLookBack = BoundedSetting.duration(.hours(72), in: .hours(1) ... .days(180))
    }

    /// `receipts`: what apps send.
    package enum Receipts {
        /// `receipts.acceptSHA1`: Apple uses SHA-256 alone since 2025-01-24.
        package static let acceptSHA1 = false
        /// `receipts.keepRaw`.
        package static let keepRaw = ReceiptPolicy().keepsRawReceipts
        /// `receipts.usersPerTransaction`: restoring and shared devices are common.
        package static let usersPerTransaction = BoundedSetting.count(
            ReceiptPolicy().usersPerTransaction, in: 1...10_000)
        /// `receipts.wait`: how long an upload waits for Apple.
        package static let wait = BoundedSetting.duration(ReceiptPolicy().wait, in: .zero ... .minutes(1))
    }

    /// `callbacks`: where what happens may be posted.
    enum Callbacks {
        /// `callbacks.timeout`: how long a receiver has to answer.
        static let timeout = BoundedSetting.duration(CallbackPolicy().timeout, in: .seconds(1) ... .minutes(1))
    }

    /// `retention`; the defaults are those of `Domain`'s `RetentionPolicy`, which the store's own tests use too.
    enum Retention {
        private static let policy = RetentionPolicy()
        private static let longest = Duration.days(36_500)
        /// `retention.notifications`; what is older is refused when it comes, and Apple repeats a notification for six and a
        /// half days.
        static let notifications = BoundedSetting.duration(policy.notifications, in: .days(7)...longest)
        /// `retention.deliveries`: deliveries and cases, from their end on.
        static let deliveries = BoundedSetting.duration(policy.deliveries, in: .days(2)...longest)
        /// `retention.attempts`: single attempts, from their start on.
        static let attempts = BoundedSetting.duration(policy.attempts, in: .days(1)...longest)
        /// `retention.receipts`: from the time they were last brought up to date on.
        static let receipts = BoundedSetting.duration(policy.receipts, in: .days(1)...longest)
        /// `retention.usage`: from the receipt of the newest report about a purchase on.
        static let usage = BoundedSetting.duration(policy.usage, in: .days(1)...longest)
        /// `retention.events`: from the time they happened on.
        static let events = BoundedSetting.duration(policy.events, in: .days(1)...longest)
        /// `retention.sandbox`: from the same times on, of what is the Sandbox's.
        static let sandbox = BoundedSetting.duration(policy.sandbox, in: .days(7)...longest)
    }

    /// `shutdown`: how the daemon stops.
    package enum Shutdown {
        /// `shutdown.drainDelay`: how long it keeps serving while `/readyz` already answers 503.
        package static let drainDelay = BoundedSetting.duration(.zero, in: .zero ... .minutes(5))
        /// `shutdown.timeout`: longest wait for requests in flight after that.
        package static let timeout = BoundedSetting.duration(.seconds(30), in: .seconds(1) ... .minutes(10))
    }

    /// `snapshots`: the answers kept in memory so that a caller can page through them.
    package enum Snapshots {
        /// `snapshots.lifetime`: how long one is kept.
        package static let lifetime = BoundedSetting.duration(.minutes(10), in: .seconds(1) ... .hours(24))
        /// `snapshots.maximumBytes`: what all of them may take together.
        package static let maximumBytes = BoundedSetting.bytes(64 * mebibyte, in: mebibyte...16 * 1024 * mebibyte)
    }

    /// How long Apple waits for an answer about a refund: nothing is earlier or later than that.
    private static let answerWindow = Duration.seconds(RefundCase.answerWindow)
}

/// A setting that may be left out: what it is then, and what it may be when it is given, bounds included.
package struct BoundedSetting<Value: Comparable & Sendable>: Sendable {
    package let `default`: Value
    let range: ClosedRange<Value>
    /// How the configuration writes it.
    fileprivate let notation: @Sendable (ClosedRange<Value>) -> ConfigurationValue<Value>
    fileprivate let text: @Sendable (Value) -> String

    /// What may be written.
    var kind: ConfigurationValue<Value> { notation(range) }

    /// The default, as the configuration would write it.
    var defaultText: String { text(`default`) }
}

extension BoundedSetting<Int> {
    fileprivate static func count(_ value: Int, in range: ClosedRange<Int>) -> Self {
        Self(default: value, range: range, notation: ConfigurationValue.count, text: { "\($0)" })
    }

    fileprivate static func percent(_ value: Int, in range: ClosedRange<Int>) -> Self {
        Self(default: value, range: range, notation: ConfigurationValue.percent, text: { "\($0)%" })
    }

    fileprivate static func bytes(_ value: Int, in range: ClosedRange<Int>) -> Self {
        Self(default: value, range: range, notation: ConfigurationValue.bytes, text: { ByteCount.text($0) })
    }
}

extension BoundedSetting<Duration> {
    fileprivate static func duration(_ value: Duration, in range: ClosedRange<Duration>) -> Self {
        Self(default: value, range: range, notation: ConfigurationValue.duration, text: { DurationText.text($0) })
    }
}

private let kibibyte = 1 << 10
private let mebibyte = 1 << 20

extension Duration {
    fileprivate static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
