import NIOCore
import Synchronization

/// What a listener knows of one open connection, to choose who has to go when there is no room for another.
///
/// Written on the connection's event loop at each turn of a request, and read on others, so that nobody waits for anybody.
final class ConnectionRecord: Sendable {
    /// What the connection is about.
    enum Activity: UInt64 {
        /// It has not sent a whole request yet; one that only holds a place looks like this.
        case silent
        /// The body of a request arrives.
        case receiving
        /// Whole requests are answered.
        case working
        /// All of them were answered, and the client has not taken all of the answers.
        case sending
        /// It was answered, and may send another request or not.
        case idle
    }

    let channel: any Channel
    /// The activity in the lowest three bits, above them since when, in nanoseconds of uptime.
    private let state: Atomic<UInt64>
    /// Bytes of a body of which the rest is missing, and of answers that the client has not taken.
    private let bytes = Atomic(0)
    private let sourceName: Mutex<String>
    /// The hash of the source's name, by which sources are told apart where many are looked at.
    private let sourceHash: Atomic<Int>
    private let leaving = Atomic(false)

    /// `source`: where the connection comes from, as its socket tells.
    init(_ channel: any Channel, source: String, at now: NIODeadline) {
        self.channel = channel
        sourceName = Mutex(source)
        sourceHash = Atomic(source.hashValue)
        state = Atomic(Self.word(.silent, now))
    }

    private static func word(_ activity: Activity, _ since: NIODeadline) -> UInt64 {
        since.uptimeNanoseconds << 3 | activity.rawValue
    }

    /// What it is about, and since when.
    var activity: (kind: Activity, since: NIODeadline) {
        let word = state.load(ordering: .relaxed)
        return (Activity(rawValue: word & 7) ?? .idle, .uptimeNanoseconds(word >> 3))
    }

    func turn(to activity: Activity, at now: NIODeadline) {
        state.store(Self.word(activity, now), ordering: .relaxed)
    }

    /// Whether it takes room for a request that is not there.
    var isIncomplete: Bool {
        switch activity.kind {
        case .silent, .receiving: true
        case .working, .sending, .idle: false
        }
    }

    /// Whether it may be told to make room: no work is lost with it.
    var mayGo: Bool { activity.kind != .working }

    /// Whether it has been told to make room.
    var isLeaving: Bool {
        get { leaving.load(ordering: .relaxed) }
        set { leaving.store(newValue, ordering: .relaxed) }
    }

    var heldBytes: Int { bytes.load(ordering: .relaxed) }

    func hold(bytes count: Int) { bytes.store(count, ordering: .relaxed) }

    /// Where it comes from: a trusted proxy tells better than the socket.
    var source: String {
        get { sourceName.withLock(\.self) }
        set {
            sourceName.withLock { $0 = newValue }
            sourceHash.store(newValue.hashValue, ordering: .relaxed)
        }
    }

    var sourceKey: Int { sourceHash.load(ordering: .relaxed) }
}

/// Who has to go when there is no room: of the source that takes most of it, the one that has taken it for longest.
///
/// A source that floods loses its own connections, and nobody else's as long as it takes the most. A client that is still taking
/// its answer goes after those that are not.
enum Eviction {
    /// What is known of one source.
    private struct Share {
        var room = 0
        var first: Candidate?
    }

    private struct Candidate {
        let record: ConnectionRecord
        let order: (isSending: Int, since: NIODeadline)
    }

    /// - Parameters:
    ///   - records: those that take room; only those go that may.
    ///   - room: what each takes of what is short.
    /// - Returns: nil when none may go.
    static func victim(
        among records: [ConnectionRecord], room: (ConnectionRecord) -> Int = { _ in 1 }
    ) -> ConnectionRecord? {
        var shares: [Int: Share] = [:]
        for record in records {
            var share = shares[record.sourceKey] ?? Share()
            share.room += room(record)
            let activity = record.activity
            if activity.kind != .working {
                let order = (isSending: activity.kind == .sending ? 1 : 0, since: activity.since)
                if share.first.map({ order < $0.order }) ?? true {
                    share.first = Candidate(record: record, order: order)
                }
            }
            shares[record.sourceKey] = share
        }
        let candidates = shares.values.compactMap { share in share.first.map { (room: share.room, first: $0) } }
        return candidates.min {
            ($1.room, $0.first.order.isSending, $0.first.order.since) < (
                $0.room, $1.first.order.isSending, $1.first.order.since
            )
        }?
        .first.record
    }
}
