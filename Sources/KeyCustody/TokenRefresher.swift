package import Domain
import ServiceLifecycle

/// Refreshes tokens ahead of need, in the background.
package struct TokenRefresher: Service {
    private let minter: TokenMinter
    private let apps: [App]
    private let interval: Duration
    private let clock: any Clock<Duration>

    /// `interval`: how often the tokens are looked at; a small part of a token's life.
    package init(
        minter: TokenMinter, apps: [App], interval: Duration = .seconds(15),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.minter = minter
        self.apps = apps
        self.interval = interval
        self.clock = clock
    }

    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do {
                    try await clock.sleep(for: interval)
                } catch {
                    return
                }
                minter.refresh(apps)
            }
        }
    }
}
