// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import io.smqtt.admin.InvalidFieldException;

/**
 * A regular expression of a ban. It is compared in time linear in the text, and with a limited number of characters of it, so a client cannot
 * make a comparison last. Immutable.
 */
final class BanPattern {

    /** Maximum number of characters of a text that are looked at. */
    static final int MAX_TEXT = 512;

    /** Maximum number of characters of a pattern. */
    static final int MAX_PATTERN = 256;

    /** Maximum number of steps that a pattern is compiled to if all its repetitions are written out. */
    private static final int MAX_STEPS = 2_048;

    private final Pattern pattern;

    private BanPattern(Pattern pattern) {
        this.pattern = pattern;
    }

    /**
     * Compiles a pattern.
     *
     * @throws InvalidFieldException if it is malformed or too long
     */
    static BanPattern of(String text) {
        if (text.length() > MAX_PATTERN || steps(text) > MAX_STEPS) {
            throw new InvalidFieldException("the regular expression is too long: at most " + MAX_PATTERN
                    + " characters, and " + MAX_STEPS + " with its repetitions written out");
        }
        try {
            return new BanPattern(Pattern.compile(text));
        } catch (PatternSyntaxException e) {
            throw new InvalidFieldException(
                    "the regular expression is malformed or uses what takes more than linear time: "
                            + e.getDescription());
        }
    }

    /** At least the length of a pattern with its repetitions written out, as if all of them were nested. */
    static long steps(String text) {
        long steps = text.length();
        int at = text.indexOf('{');
        while (at >= 0 && steps <= MAX_STEPS) {
            int end = at + 1;
            long most = 0;
            long number = 0;
            while (end < text.length() && "0123456789,".indexOf(text.charAt(end)) >= 0 && number <= MAX_STEPS) {
                char c = text.charAt(end++);
                number = c == ',' ? 0 : number * 10 + c - '0';
                most = Math.max(most, number);
            }
            steps *= Math.max(1, most);
            at = text.indexOf('{', end);
        }
        return steps;
    }

    boolean isFoundIn(String text) {
        return pattern.matcher(text.length() <= MAX_TEXT ? text : text.substring(0, MAX_TEXT))
                .find();
    }

    String text() {
        return pattern.pattern();
    }
}
