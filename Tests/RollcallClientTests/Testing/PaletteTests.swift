// The colours of the views, which are compiled here and drawn elsewhere.

import Foundation
import RollcallViews
import Testing

@Suite struct PaletteTests {
    @Test("texts contrast with their background at least 4.5:1, and dots 3:1")
    func contrast() {
        for (background, isDark) in [
            (0xFFFFFF, false), (Palette.bubble.light, false), (0x000000, true), (Palette.bubble.dark, true),
        ]
            as [(UInt32, Bool)]
        {
            func contrast(_ colour: Palette) -> Double {
                let (one, other) = (luminance(isDark ? colour.dark : colour.light), luminance(background))
                return (max(one, other) + 0.05) / (min(one, other) + 0.05)
            }
            #expect(contrast(.text) >= 4.5)
            for dot in [Palette.online, .away, .offline, .text] { #expect(contrast(dot) >= 3) }
        }
    }

    /// As WCAG 2.2 defines it.
    private func luminance(_ colour: UInt32) -> Double {
        zip([16, 8, 0], [0.2126, 0.7152, 0.0722]).reduce(0) { sum, part in
            let value = Double(colour >> part.0 & 0xFF) / 255
            return sum + part.1 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4))
        }
    }
}
