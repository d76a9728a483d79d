import Foundation

// The program that `run-hostile.sh` runs under callgrind, once for each parser. No test and no other program contains it.

/// The rules by which a cell of the table passes.
private enum Rule {
    /// The growth that a sixteenfold input may cause.
    static let largestGrowth = 18
    /// The growth that a fourfold input may cause; a parser that exceeds it is not run on the largest input.
    static let largestEarlyGrowth = 6
    /// Instructions that are added to both bounds, so that costs which do not depend on the input never fail a cell.
    static let constant = 100_000
    /// Instructions beyond which no parser is run: the largest input may cost 2,861 a byte.
    static let mostInstructions = 3_000_000_000.0
    /// The same for a parser that has exceeded the early bound already.
    static let mostSuspectInstructions = 300_000_000.0
}

/// What callgrind counts: everything between entering and leaving this function.
///
/// `run-hostile.sh` passes the name to `--toggle-collect` and `--dump-after`.
@_silgen_name("hostile_run")
@inline(never)
public func hostileRun() { work() }

// Safe: this program has one thread.
nonisolated(unsafe) private var work: () -> Void = {}

/// Keeps the compiler from removing what is not read.
@inline(never)
func use<Value>(_ value: Value) {}

/// The dumps that callgrind writes while this program runs.
private struct Dumps {
    let path: String
    var count = 0

    /// Runs a parser.
    ///
    /// - Returns: the instructions that it took.
    mutating func instructions(of body: @escaping () -> Void) -> Int {
        work = body
        hostileRun()
        work = {}
        count += 1
        let file = "\(path).\(count)"
        guard let data = FileManager.default.contents(atPath: file),
            let total = String(decoding: data.suffix(256), as: UTF8.self).split(separator: "\n")
                .last(where: { $0.hasPrefix("totals: ") }).flatMap({ Int($0.dropFirst("totals: ".count)) })
        else { fatalError("\(file) has no line `totals:`; run this program by `make instructions-hostile`") }
        try? FileManager.default.removeItem(atPath: file)
        return total
    }
}

/// One row of the table: a parser, where it reads the text, and the shape of that text.
private struct Cell {
    let parser: HostileParser
    let shape: Shape
    /// Ascending; the last is 16 times the one before, the others four times.
    let sizes: [Int]

    /// Measures the cell and prints its row.
    func measure(_ dumps: inout Dumps) {
        var fault: String?
        func run(_ input: [UInt8]) {
            do {
                try parser.run(input)
            } catch {
                fault = "\(error)"
            }
        }
        // Fills what is made on first use.
        run(shape.bytes(sizes[0]))
        var costs: [Int] = []
        while fault == nil, costs.count < sizes.count {
            let input = shape.bytes(sizes[costs.count])
            costs.append(dumps.instructions { run(input) })
            fault = fault ?? self.fault(in: costs)
        }
        print(row(costs, fault))
        fflush(nil)
    }

    /// Why the costs so far fail the cell; nil while they do not.
    private func fault(in costs: [Int]) -> String? {
        let count = costs.count
        guard let last = costs.last, let end = sizes.last else { return nil }
        // Where even a linear cost would be too much.
        let least = Double(last) * Double(end / sizes[count - 1])
        let tooMuch = "\(SizeText.of(end)) would take over 3,000,000,000 instructions"
        guard count > 1 else { return least > Rule.mostInstructions ? tooMuch : nil }
        let before = costs[count - 2]
        let growth = Double(last) / Double(before)
        let fault =
            "\(SizeText.of(sizes[count - 1])) costs \(Self.rounded(growth)) times \(SizeText.of(sizes[count - 2]))"
        guard count < sizes.count else {
            return last > Rule.largestGrowth * before + Rule.constant ? fault : nil
        }
        let isSuspect = last > Rule.largestEarlyGrowth * before + Rule.constant
        if isSuspect, count == sizes.count - 1 { return fault }
        // The next input is four times as long, the last one sixteen times.
        let expected = Double(last) * (count == sizes.count - 1 ? growth * growth : growth)
        if isSuspect, expected > Rule.mostSuspectInstructions { return fault }
        return max(least, expected) > Rule.mostInstructions ? tooMuch : nil
    }

    private func row(_ costs: [Int], _ fault: String?) -> String {
        // Of a cell that was given up early, the largest size that was run.
        let place = min(costs.count, sizes.count - 1) - 1
        let perByte = place < 0 ? "-" : Self.rounded(Double(costs[place]) / Double(sizes[place]))
        let ratio =
            costs.count == sizes.count ? Self.rounded(Double(costs[place + 1]) / Double(max(1, costs[place]))) : "-"
        let texts = [parser.name, shape.place, shape.name]
        let figures = ["\(SizeText.of(sizes[sizes.count - 2]))-\(SizeText.of(sizes[sizes.count - 1]))", perByte, ratio]
        let columns =
            zip(texts, [21, 15, 21]).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
            + zip(figures, [8, 11, 8]).map { String(repeating: " ", count: max(0, $1 - $0.count)) + $0 }
        return columns.joined(separator: " ") + "  " + (fault.map { "FAILED: \($0)" } ?? "ok")
    }

    private static func rounded(_ number: Double) -> String { String(format: "%.1f", number) }
}

/// Sizes as the table prints them.
private enum SizeText {
    static func of(_ bytes: Int) -> String {
        switch bytes {
        case 1 << 20: "1M"
        case let bytes where bytes.isMultiple(of: 1024): "\(bytes / 1024)K"
        default: "\(bytes)"
        }
    }
}

@main
private struct Hostile {
    /// Up to 1 MiB.
    private static let sizes = [1 << 12, 1 << 14, 1 << 16, 1 << 20]

    /// Sizes up to the longest input that a parser reads.
    private static func sizes(upTo limit: Int) -> [Int] {
        var sizes = [limit / 16, limit]
        while sizes[0] > 4096 { sizes.insert(sizes[0] / 4, at: 0) }
        return sizes
    }

    /// Stops the program if a shape is longer than asked, as its cost would then be that of another size.
    private static func check(_ shape: Shape, of parser: HostileParser) {
        for size in sizes.prefix(3) + (parser.limit.map(sizes(upTo:)) ?? []) {
            let count = shape.bytes(size).count
            guard count > size else { continue }
            fatalError(
                "\(parser.name), \(shape.place), \(shape.name) has \(count) bytes; at most \(size) are asked for")
        }
    }

    /// Without arguments, lists the parsers; with a parser's name and the path of callgrind's dumps, measures it.
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        guard let name = arguments.first, let path = arguments.dropFirst().first else {
            for parser in HostileParser.all {
                print(parser.name)
                for shape in parser.shapes { check(shape, of: parser) }
            }
            return
        }
        guard let parser = HostileParser.all.first(where: { $0.name == name }) else {
            fatalError("`\(name)` is not a parser; without arguments this program lists them")
        }
        var dumps = Dumps(path: path)
        for shape in parser.shapes {
            Cell(parser: parser, shape: shape, sizes: sizes).measure(&dumps)
            guard let limit = parser.limit else { continue }
            Cell(parser: parser, shape: shape, sizes: sizes(upTo: limit)).measure(&dumps)
        }
    }
}
