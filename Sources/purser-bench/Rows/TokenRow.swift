/// Row 7: tokens for Apple: minting, looking up, and ten thousand apps at a time.
struct TokenRow: Row {
    let number = 7
    let title = "Tokens, 10,000 apps"
    let reference = "openssl speed ecdsap256, sign"
    let tools = [Tool.openssl]

    func measure(in bench: Bench) async throws -> [Figure] {
        var mint = Figure("minted", .perSecond)
        var lookUp = Figure("look-up", .nanoseconds, reference: "at 10 apps")
        var memory = Figure("memory of 10,000 tokens", .megabytes)
        for _ in 0..<bench.repetitions {
            let speed = try await OpenSSLSpeed.measure(in: bench)
            let few = try await bench.run(
                TokenProbe(key: bench.fixtures.path("api.p8"), apps: 10), core: bench.cores.service)
            let many = try await bench.run(
                TokenProbe(key: bench.fixtures.path("api.p8"), apps: 10_000), core: bench.cores.service)
            mint.add(many.mintsPerSecond, against: speed.signaturesPerSecond)
            lookUp.add(many.lookUpNanoseconds, against: few.lookUpNanoseconds)
            memory.add(many.residentBytes / 1_000_000)
        }
        return [mint, lookUp, memory]
    }
}
