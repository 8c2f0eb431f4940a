// The text of a field and the cursor. One press of Backspace removes what people see as one character: a letter with
// its accents, a flag, a family of emoji.

/// A field of one line.
package struct LineEditor: Hashable, Sendable {
    package private(set) var before = ""
    package private(set) var after = ""

    /// The maximum number of characters. The rest is dropped.
    package static let capacity = 2_000

    package init(_ text: String = "") {
        insert(text)
    }

    package var text: String { before + after }
    package var isEmpty: Bool { before.isEmpty && after.isEmpty }

    /// - Returns: whether the text changed.
    @discardableResult
    package mutating func pressed(_ key: Key) -> Bool {
        let old = text
        switch key {
        case .text(let text), .paste(let text): insert(text)
        case .backspace: _ = before.popLast()
        case .delete: after = String(after.dropFirst())
        case .deleteWord: before.removeLast(before.count - startOfWord)
        case .deleteToEnd: after = ""
        case .clear, .enter: self = LineEditor()
        case .left: move(to: before.count - 1)
        case .right: move(to: before.count + 1)
        case .wordLeft: move(to: startOfWord)
        case .wordRight: move(to: before.count + endOfWord)
        case .home: move(to: 0)
        case .end: move(to: text.count)
        case .redraw, .leave: break
        }
        return text != old
    }

    /// Returns the part of the text around the cursor that fits a width in cells. `…` stands for what is cut off.
    package func window(of width: Int) -> (before: String, after: String) {
        // At the end of the text, the cursor needs a cell.
        let room = max(1, width) - 1
        if Cells.width(of: before) + Cells.width(of: after) <= room { return (before, after) }
        let ahead = min(Cells.width(of: after), room / 3)
        var left = before
        if Cells.width(of: left) > room - ahead {
            left = "…" + Cells.suffix(of: before, fitting: room - ahead - 1)
        }
        return (left, Cells.shortened(after, to: room - Cells.width(of: left)))
    }

    /// Inserts text. Line breaks become spaces and control characters are removed: a field can show neither.
    private mutating func insert(_ text: String) {
        let line = text.replacing("\r\n", with: "\n").unicodeScalars.map { scalar in
            scalar.properties.isWhitespace ? Unicode.Scalar(" ") : scalar
        }
        let kept = line.filter { $0.properties.generalCategory != .control }
        let room = Self.capacity - self.text.count
        var inserted = before
        inserted.unicodeScalars.append(contentsOf: kept)
        // A mark that combines with the last character needs no room.
        before = String(inserted.prefix(before.count + max(0, room)))
    }

    private mutating func move(to place: Int) {
        let text = self.text
        let index = text.index(text.startIndex, offsetBy: min(max(0, place), text.count))
        (before, after) = (String(text[..<index]), String(text[index...]))
    }

    /// Where the word before the cursor begins, counted from the start.
    private var startOfWord: Int {
        before.count - Self.lengthOfWord(before.reversed())
    }

    /// Where the word after the cursor ends, counted from the cursor.
    private var endOfWord: Int {
        Self.lengthOfWord(after)
    }

    private static func lengthOfWord(_ text: some Collection<Character>) -> Int {
        let spaces = text.prefix(while: \.isWhitespace).count
        return spaces + text.dropFirst(spaces).prefix { !$0.isWhitespace }.count
    }
}
