import Foundation
import NIOCore
import Synchronization

/// When the latest part of the request on each channel came in; outlives the channel, which a client may close at once.
final class ArrivalLog: Sendable {
    private let now: @Sendable () -> Date
    private let arrivals = Mutex<[ObjectIdentifier: Date]>([:])

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    func note(_ channel: any Channel) {
        let date = now()
        arrivals.withLock { $0[ObjectIdentifier(channel)] = date }
    }

    /// Takes out when the latest part came in.
    func take(_ channel: any Channel) -> Date {
        arrivals.withLock { $0.removeValue(forKey: ObjectIdentifier(channel)) } ?? now()
    }
}
