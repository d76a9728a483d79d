package import Domain

extension AppStoreClient {
    /// How each environment of Apple's is, as far as calls have shown; for `/healthz`.
    package func health() -> [HealthReport.Part] {
        AppStoreEnvironment.allCases.compactMap { environment in
            caller.parts.breakers.state(of: environment).map { state in
                let (isHealthy, detail) = describe(state)
                return HealthReport.Part(
                    name: "apple:\(environment.rawValue)", isHealthy: isHealthy, detail: detail)
            }
        }
    }

    private func describe(_ state: CircuitBreaker.State) -> (Bool, String) {
        switch state {
        case .closed(0, _): return (true, "calls go through")
        case .closed(let failures, _): return (true, "calls go through; the last \(failures) failed")
        case .open(let until, _):
            let seconds = max(0, caller.parts.clock.remaining(until: until).components.seconds)
            return (false, "Apple fails: no calls for \(seconds) s, then one to look")
        case .halfOpen: return (false, "Apple failed: one call at a time looks whether it is back")
        }
    }
}
