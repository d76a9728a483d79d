import Foundation

// What `run-fuzz.sh` builds with libFuzzer and sanitizers out of the targets; no test and no program holds it.

/// The target that the environment names.
private let chosen: FuzzTarget = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("FUZZ_TARGET must be one of \(FuzzTarget.all.map(\.name).joined(separator: ", "))")
    }
    return target
}()

/// Called by libFuzzer with each input: a crash is a finding, and so is what the target throws.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try chosen.run(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("\(chosen.name): \(error)")
    }
    return 0
}
