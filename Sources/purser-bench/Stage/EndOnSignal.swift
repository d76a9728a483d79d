import Dispatch
import Foundation

/// Ends everything when a person or the system asks this program to end.
struct EndOnSignal {
    private let sources: [any DispatchSourceSignal]

    init(_ bench: Bench) {
        sources = [SIGINT, SIGTERM, SIGHUP].map { number in
            // Not `SIG_IGN`, which programs that are started would inherit.
            signal(number) { _ in }
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                bench.abandon()
                exit(128 + number)
            }
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}
