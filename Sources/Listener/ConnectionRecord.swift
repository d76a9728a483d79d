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
        /// Requests are answered.
        case working
        /// It was answered, and may send another request or not.
        case idle
    }

    let channel: any Channel
    /// The activity in the lowest two bits, above them since when, in nanoseconds of uptime.
    private let state: Atomic<UInt64>
    /// Bytes of a body that have arrived while its rest has not.
    private let bytes = Atomic(0)
    private let sourceName: Mutex<String>
    private let leaving = Atomic(false)

    /// `source`: where the connection comes from, as its socket tells.
    init(_ channel: any Channel, source: String, at now: NIODeadline) {
        self.channel = channel
        sourceName = Mutex(source)
        state = Atomic(Self.word(.silent, now))
    }

    private static func word(_ activity: Activity, _ since: NIODeadline) -> UInt64 {
        since.uptimeNanoseconds << 2 | activity.rawValue
    }

    /// What it is about, and since when.
    var activity: (kind: Activity, since: NIODeadline) {
        let word = state.load(ordering: .relaxed)
        return (Activity(rawValue: word & 3) ?? .idle, .uptimeNanoseconds(word >> 2))
    }

    func turn(to activity: Activity, at now: NIODeadline) {
        state.store(Self.word(activity, now), ordering: .relaxed)
    }

    /// Whether it takes room for a request that is not there.
    var isIncomplete: Bool {
        switch activity.kind {
        case .silent, .receiving: true
        case .working, .idle: false
        }
    }

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
        set { sourceName.withLock { $0 = newValue } }
    }
}

/// Who has to go when there is no room: of the source that takes most of it, the one that has taken it for longest.
///
/// A source that floods loses its own connections, and nobody else's as long as it takes the most.
enum Eviction {
    /// - Parameters:
    ///   - records: those that may go.
    ///   - room: what each takes of what is short.
    /// - Returns: nil when there is none.
    static func victim(
        among records: [ConnectionRecord], room: (ConnectionRecord) -> Int = { _ in 1 }
    ) -> ConnectionRecord? {
        var bySource: [String: (room: Int, oldest: ConnectionRecord, since: NIODeadline)] = [:]
        for record in records {
            let since = record.activity.since
            let source = record.source
            guard var known = bySource[source] else {
                bySource[source] = (room(record), record, since)
                continue
            }
            known.room += room(record)
            if since < known.since { (known.oldest, known.since) = (record, since) }
            bySource[source] = known
        }
        return bySource.values.max { ($0.room, $1.since) < ($1.room, $0.since) }?.oldest
    }
}
