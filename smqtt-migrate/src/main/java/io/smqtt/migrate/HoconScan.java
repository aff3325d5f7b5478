// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Bounds a HOCON text before it is parsed, in one pass, so that the parser cannot take long or recurse deeply: levels, keys, and the length of
 * unquoted values. Substitutions are replaced by marked texts, so that the parser does not resolve them; {@link HoconReferences} does.
 */
final class HoconScan {

    static final int MAX_DEPTH = 24;
    static final int MAX_KEYS = 4_000;
    static final int MAX_REFERENCES = 256;

    private static final int MAX_PARTS = 256;
    private static final int MAX_UNQUOTED = 4_096;
    private static final int MAX_DOTS = 32;
    private static final String TRIPLE = "\"\"\"";
    private static final Pattern PATH = Pattern.compile("\\s*\"?([A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+){0,15})\"?\\s*");

    private final OldFile file;
    private final String text;
    private final List<HoconReferences.Reference> references;
    private final StringBuilder scanned = new StringBuilder();
    private final int[] parts = new int[MAX_DEPTH + 1];
    private final int[] unquoted = new int[MAX_DEPTH + 1];
    private int at;
    private int line = 1;
    private int depth;
    private int dots;
    private int keys;
    private boolean inWord;

    private HoconScan(OldFile file, List<HoconReferences.Reference> references, int keys) {
        this.file = file;
        this.text = file.text();
        this.references = references;
        this.keys = keys;
    }

    /**
     * The checked text.
     *
     * @param text the text, with a marker in place of each substitution
     * @param keys the number of keys of this file and of those before it
     */
    record Scanned(String text, int keys) {}

    /**
     * Checks a file.
     *
     * @param file the file
     * @param references gets the substitutions
     * @param keys the number of keys in the files before
     * @throws io.smqtt.config.ConfigurationException if a limit is exceeded, or a text is not closed
     */
    static Scanned scan(OldFile file, List<HoconReferences.Reference> references, int keys) {
        HoconScan scan = new HoconScan(file, references, keys);
        while (scan.at < scan.text.length()) {
            scan.next();
        }
        return new Scanned(scan.scanned.toString(), scan.keys);
    }

    private void next() {
        char c = text.charAt(at);
        switch (c) {
            case '\n' -> {
                copy(1);
                line++;
                separator();
            }
            case ' ', '\t', '\r' -> {
                copy(1);
                inWord = false;
            }
            case '#' -> comment();
            case '"' -> quoted();
            case '{', '[' -> open();
            case '}', ']' -> close();
            case ',' -> {
                copy(1);
                separator();
            }
            case ':', '=' -> {
                countKey();
                copy(1);
                separator();
            }
            default -> other(c);
        }
    }

    private void other(char c) {
        if (c == '/' && text.startsWith("//", at)) {
            comment();
        } else if (c == '$' && text.startsWith("${", at)) {
            reference();
        } else if (c == '+' && text.startsWith("+=", at)) {
            throw file.problem(line, "adds to a list with +=, which is not supported; write the whole list");
        } else if (HoconReferences.isMark(c)) {
            throw file.problem(line, "has a character that is used in no configuration");
        } else {
            word(c);
        }
    }

    private void word(char c) {
        if (!inWord) {
            part();
            inWord = true;
        }
        dots += c == '.' ? 1 : 0;
        if (++unquoted[depth] > MAX_UNQUOTED || dots > MAX_DOTS) {
            throw file.problem(line, "has a long text that is not in quotes");
        }
        copy(1);
    }

    private void comment() {
        int end = text.indexOf('\n', at);
        at = end < 0 ? text.length() : end;
    }

    private void quoted() {
        part();
        int first = line;
        if (text.startsWith(TRIPLE, at)) {
            int end = text.indexOf(TRIPLE, at + 3);
            if (end < 0) {
                throw file.problem(first, "has a text that is not closed");
            }
            end += 3;
            while (end < text.length() && text.charAt(end) == '"') {
                end++;
            }
            line += (int) text.substring(at, end).chars().filter(c -> c == '\n').count();
            copy(end - at);
            return;
        }
        int end = at + 1;
        while (end < text.length() && text.charAt(end) != '"' && text.charAt(end) != '\n') {
            end += text.charAt(end) == '\\' ? 2 : 1;
        }
        if (end >= text.length() || text.charAt(end) == '\n') {
            throw file.problem(first, "has a text that is not closed");
        }
        copy(end + 1 - at);
    }

    private void open() {
        part();
        if (++depth > MAX_DEPTH) {
            throw file.problem(line, "is nested deeper than " + MAX_DEPTH + " levels");
        }
        countKey();
        copy(1);
        separator();
    }

    private void close() {
        if (--depth < 0) {
            throw file.problem(line, "closes a bracket that is not open");
        }
        copy(1);
        inWord = false;
    }

    private void reference() {
        part();
        int end = text.indexOf('}', at);
        boolean optional = text.startsWith("?", at + 2);
        int from = at + (optional ? 3 : 2);
        Matcher path = PATH.matcher(end < from ? "" : text.substring(from, Math.min(end, from + OldFile.MAX_KEY)));
        if (!path.matches()) {
            throw file.problem(line, "has a substitution ${…} that is not the name of a key");
        }
        if (references.size() >= MAX_REFERENCES) {
            throw file.problem(line, "has more than " + MAX_REFERENCES + " substitutions");
        }
        scanned.append('"').append(HoconReferences.mark(references.size())).append('"');
        references.add(new HoconReferences.Reference(path.group(1), optional, file.where(line)));
        at = end + 1;
    }

    /** Counts a part of a value: values are joined from parts, each time copying what is there. */
    private void part() {
        inWord = false;
        if (++parts[depth] > MAX_PARTS) {
            throw file.problem(line, "has a value of more than " + MAX_PARTS + " parts");
        }
    }

    private void countKey() {
        if (++keys > MAX_KEYS) {
            throw file.problem(line, "has more than 4,000 keys, so it is not a configuration");
        }
    }

    private void separator() {
        inWord = false;
        dots = 0;
        parts[depth] = 0;
        unquoted[depth] = 0;
    }

    private void copy(int length) {
        scanned.append(text, at, at + length);
        at += length;
    }
}
