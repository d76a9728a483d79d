import Synchronization

/// Remembers which keys a signature was checked with.
final class AccessKeyRecord: Sendable {
    private let noted = Mutex<[[UInt8]]>([])

    var keys: [[UInt8]] { noted.withLock(\.self) }

    func note(_ key: [UInt8]) { noted.withLock { $0.append(key) } }
}
