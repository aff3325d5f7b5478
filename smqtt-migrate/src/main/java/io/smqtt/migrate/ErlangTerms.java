// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Erlang terms, each followed by a dot, as in acl.conf: atoms, texts, integers, tuples and lists. */
final class ErlangTerms {

    private static final int MAX_DEPTH = 16;
    private static final int MAX_TERMS = 20_000;
    private static final Pattern ATOM = Pattern.compile("[a-z][A-Za-z0-9_@]*|-?[0-9]{1,18}");

    /** A term. */
    sealed interface Term permits Atom, Text, Tuple, Items {}

    /**
     * An atom or an integer.
     *
     * @param name its name
     */
    record Atom(String name) implements Term {}

    /**
     * A text in double quotes.
     *
     * @param value the text
     */
    record Text(String value) implements Term {}

    /**
     * A tuple.
     *
     * @param items its elements
     */
    record Tuple(List<Term> items) implements Term {}

    /**
     * A list.
     *
     * @param items its elements
     */
    record Items(List<Term> items) implements Term {}

    /**
     * A term with its place.
     *
     * @param term the term
     * @param line where it begins
     */
    record Placed(Term term, int line) {}

    private final OldFile file;
    private final String text;
    private int at;
    private int line = 1;
    private int terms;

    private ErlangTerms(OldFile file) {
        this.file = file;
        this.text = file.text();
    }

    /** Reads all terms of a file. */
    static List<Placed> read(OldFile file) {
        ErlangTerms reader = new ErlangTerms(file);
        List<Placed> all = new ArrayList<>();
        while (reader.skip()) {
            int line = reader.line;
            all.add(new Placed(reader.term(0), line));
            reader.skip();
            reader.expect('.');
        }
        return all;
    }

    private Term term(int depth) {
        if (depth > MAX_DEPTH || ++terms > MAX_TERMS) {
            throw file.problem(line, "has too many terms, or terms that are nested too deep");
        }
        if (!skip()) {
            throw file.problem(line, "ends within a term");
        }
        return switch (text.charAt(at)) {
            case '{' -> new Tuple(items('}', depth));
            case '[' -> new Items(items(']', depth));
            case '"' -> new Text(quoted('"'));
            case '\'' -> new Atom(quoted('\''));
            case '<' -> binary();
            default -> atom();
        };
    }

    private List<Term> items(char close, int depth) {
        at++;
        List<Term> items = new ArrayList<>();
        while (skip() && text.charAt(at) != close) {
            if (!items.isEmpty()) {
                expect(',');
            }
            items.add(term(depth + 1));
        }
        expect(close);
        return List.copyOf(items);
    }

    /** A text between {@code <<} and {@code >>}. */
    private Term binary() {
        expect('<');
        expect('<');
        skip();
        Term inner = at < text.length() && text.charAt(at) == '"' ? new Text(quoted('"')) : new Text("");
        skip();
        expect('>');
        expect('>');
        return inner;
    }

    private Term atom() {
        Matcher atom = ATOM.matcher(text).region(at, Math.min(text.length(), at + OldFile.MAX_KEY));
        if (!atom.lookingAt()) {
            throw file.problem(line, "is not an Erlang term");
        }
        at = atom.end();
        return new Atom(atom.group());
    }

    private String quoted(char quote) {
        StringBuilder value = new StringBuilder();
        for (at++; at < text.length() && text.charAt(at) != quote; at++) {
            char c = text.charAt(at);
            if (c == '\n') {
                throw file.problem(line, "has a text that is not closed");
            }
            if (c == '\\' && at + 1 < text.length()) {
                c = text.charAt(++at);
            }
            value.append(c);
        }
        expect(quote);
        return value.toString();
    }

    private void expect(char c) {
        if (at >= text.length() || text.charAt(at) != c) {
            throw file.problem(line, "is not an Erlang term: expected " + c);
        }
        at++;
    }

    /** Skips blanks and comments; false at the end. */
    private boolean skip() {
        while (at < text.length()) {
            char c = text.charAt(at);
            if (c == '%') {
                int end = text.indexOf('\n', at);
                at = end < 0 ? text.length() : end;
            } else if (Character.isWhitespace(c)) {
                line += c == '\n' ? 1 : 0;
                at++;
            } else {
                return true;
            }
        }
        return false;
    }
}
