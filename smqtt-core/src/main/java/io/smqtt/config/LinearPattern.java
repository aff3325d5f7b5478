// SPDX-License-Identifier: Apache-2.0
package io.smqtt.config;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Compiles regular expressions of RE2, whose time is linear in the text. Counted repetitions are copies of what they repeat, and those of groups multiply, so
 * the number of steps is limited before an expression is compiled.
 */
public final class LinearPattern {

    private static final int MAX_DEPTH = 200;

    private final String text;
    private final Deque<Level> outer = new ArrayDeque<>();
    private Level level = new Level();
    private int at;

    /** A group between two parentheses. */
    private static final class Level {
        private double steps;
        private double last;

        void add(double atom) {
            last = atom;
            steps += atom;
        }
    }

    private LinearPattern(String text) {
        this.text = text;
    }

    /**
     * Compiles an expression.
     *
     * @param text the expression
     * @param maxSteps maximum number of steps with all repetitions written out: about the number of characters
     * @return the pattern
     * @throws IllegalArgumentException if it is malformed, uses what takes more than linear time, or is too large; the message continues a sentence about it
     */
    public static Pattern compile(String text, int maxSteps) {
        if (text.length() > maxSteps || new LinearPattern(text).steps() > maxSteps) {
            throw new IllegalArgumentException("is too large: at most " + maxSteps
                    + " characters with all repeats written out, and groups in " + MAX_DEPTH + " levels");
        }
        try {
            return Pattern.compile(text);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException("is no regular expression: " + e.getMessage(), e);
        }
    }

    private double steps() {
        while (at < text.length()) {
            char c = text.charAt(at++);
            switch (c) {
                case '\\' -> escaped();
                case '[' -> characters();
                case '(' -> open();
                case ')' -> close();
                case '{' -> repeated();
                case '*', '+', '?', '|' -> level.steps++;
                default -> level.add(1);
            }
        }
        while (!outer.isEmpty()) { // not closed
            close();
        }
        return level.steps;
    }

    private void escaped() {
        if (text.startsWith("Q", at)) {
            int end = text.indexOf("\\E", at);
            int next = end < 0 ? text.length() : end + 2;
            level.add(1);
            level.steps += next - at;
            at = next;
        } else {
            boolean named = at < text.length() && "xpP".indexOf(text.charAt(at)) >= 0;
            at++;
            if (named && text.startsWith("{", at)) { // a number or a name, no repeat
                int end = text.indexOf('}', at);
                at = end < 0 ? text.length() : end + 1;
            }
            level.add(1);
        }
    }

    /** A set of characters; a bracket at its begin is one of them. */
    private void characters() {
        if (text.startsWith("^", at)) {
            at++;
        }
        if (text.startsWith("]", at)) {
            at++;
        }
        while (at < text.length() && text.charAt(at) != ']') {
            int name = text.startsWith("[:", at) ? text.indexOf(":]", at) : -1;
            at = name >= 0 ? name + 2 : at + (text.charAt(at) == '\\' ? 2 : 1);
        }
        at++;
        level.add(1);
    }

    private void open() {
        outer.push(level);
        level = new Level();
        if (outer.size() > MAX_DEPTH) {
            level.steps = Double.MAX_VALUE;
        }
    }

    private void close() {
        double inner = level.steps + 2;
        if (!outer.isEmpty()) {
            level = outer.pop();
            level.add(inner);
        }
    }

    /** {@code {n}}, {@code {n,}} or {@code {n,m}}; anything else is text. */
    private void repeated() {
        int end = text.indexOf('}', at);
        String counts = end < 0 ? "" : text.substring(at, end);
        if (!counts.matches("\\d{1,9}(,\\d{0,9})?")) {
            level.add(1);
            return;
        }
        int comma = counts.indexOf(',');
        int least = Integer.parseInt(comma < 0 ? counts : counts.substring(0, comma));
        int most =
                comma < 0 || comma == counts.length() - 1 ? least + 1 : Integer.parseInt(counts.substring(comma + 1));
        level.steps += level.last * Math.max(0, Math.max(least, most) - 1);
        level.last *= Math.max(1, Math.max(least, most));
        at = end + 1;
    }
}
