// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds tags in one Java source and the test method each belongs to.
 *
 * <p>A tag counts for a test when it stands in a comment, annotation or string between the member before and the end of
 * the test's body. A tag on a class, in a helper, or on a disabled test is found but proves nothing. The scanner knows
 * just enough of Java to skip strings and comments and to follow braces: it needs neither a compiler nor the class path, so
 * it treats the sources of every module alike.
 */
final class TagScanner {

    private static final Pattern TAG = Pattern.compile("\\[(MQTT\\d*-\\d[^\\]\\s]*)]");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record)\\s+(\\w+)");
    private static final Pattern METHOD = Pattern.compile("(\\w+)\\s*\\(\\)");
    private static final Pattern TEST =
            Pattern.compile("@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|FuzzTest)\\b");
    private static final Pattern DISABLED = Pattern.compile("@Disabled");

    private enum Kind {
        TYPE,
        TEST,
        OTHER
    }

    /** A pair of braces; {@code parentheses} is how deep the text around it is nested. */
    private record Block(Kind kind, String name, int parentheses) {}

    private final String source;
    private final String file;
    private final List<SourceTag> found = new ArrayList<>();
    private final List<SourceTag> pending = new ArrayList<>();
    private final Deque<Block> blocks = new ArrayDeque<>();
    private final StringBuilder header = new StringBuilder();
    private int parentheses;
    private int line = 1;
    private int boundaryLine;

    private TagScanner(String source, String file) {
        this.source = source;
        this.file = file;
    }

    /** All tags of the source, those of tests with the test's name. */
    static List<SourceTag> scan(String source, String file) {
        TagScanner scanner = new TagScanner(source, file);
        scanner.run();
        return scanner.found;
    }

    private void run() {
        int position = 0;
        while (position < source.length()) {
            int end = endOfText(position);
            if (end > position) {
                text(source.substring(position, end));
                position = end;
            } else {
                code(source.charAt(position));
                position++;
            }
        }
        dropPending();
    }

    /** Where the comment or literal that begins here ends; {@code position} itself if none begins. */
    private int endOfText(int position) {
        if (source.startsWith("//", position)) {
            return orEnd(source.indexOf('\n', position));
        }
        if (source.startsWith("/*", position)) {
            return after("*/", position + 2);
        }
        if (source.startsWith("\"\"\"", position)) {
            return after("\"\"\"", position + 3);
        }
        char quote = source.charAt(position);
        return quote == '"' || quote == '\'' ? endOfLiteral(position + 1, quote) : position;
    }

    private int endOfLiteral(int position, char quote) {
        int at = position;
        while (at < source.length() && source.charAt(at) != quote) {
            at += source.charAt(at) == '\\' ? 2 : 1;
        }
        return Math.min(at + 1, source.length());
    }

    private int after(String end, int position) {
        int at = source.indexOf(end, position);
        return at < 0 ? source.length() : at + end.length();
    }

    private int orEnd(int index) {
        return index < 0 ? source.length() : index;
    }

    private void text(String text) {
        boolean trailsAnotherMember = atMemberLevel() && line == boundaryLine;
        Matcher matcher = TAG.matcher(text);
        while (matcher.find()) {
            int tagLine = line + newlines(text.substring(0, matcher.start()));
            SourceTag tag = new SourceTag(matcher.group(1), file + ":" + tagLine, enclosingTest());
            if (!tag.isProof() && atMemberLevel() && !trailsAnotherMember) {
                pending.add(tag);
            } else {
                found.add(tag);
            }
        }
        line += newlines(text);
    }

    private static int newlines(String text) {
        return (int) text.chars().filter(c -> c == '\n').count();
    }

    private void code(char c) {
        switch (c) {
            case '\n' -> line++;
            case '(' -> open();
            case ')' -> parentheses--;
            case '{' -> enter();
            case '}' -> leave();
            case ';' -> endOfStatement();
            default -> {}
        }
        if (atMemberLevel() && parentheses == 0 && c != '{' && c != '}' && c != ';') {
            header.append(c);
        }
    }

    private void open() {
        if (atMemberLevel() && parentheses == 0) {
            header.append('(');
        }
        parentheses++;
    }

    private void enter() {
        boolean member = atMemberLevel() && parentheses == 0;
        blocks.push(member ? memberBlock() : new Block(Kind.OTHER, "", parentheses));
        parentheses = 0;
        if (member) {
            boundary();
        }
    }

    private Block memberBlock() {
        Matcher type = TYPE.matcher(header);
        Matcher method = METHOD.matcher(header);
        if (type.find()) {
            dropPending();
            return new Block(Kind.TYPE, type.group(1), 0);
        }
        if (!TEST.matcher(header).find() || DISABLED.matcher(header).find() || !method.find()) {
            dropPending();
            return new Block(Kind.OTHER, "", 0);
        }
        String name = method.group(1);
        while (method.find()) {
            name = method.group(1);
        }
        return test(name);
    }

    private Block test(String name) {
        Block block = new Block(Kind.TEST, name, 0);
        blocks.push(block);
        String test = enclosingTest();
        blocks.pop();
        for (SourceTag tag : pending) {
            found.add(new SourceTag(tag.tag(), tag.place(), test));
        }
        pending.clear();
        return block;
    }

    private void leave() {
        if (!blocks.isEmpty()) {
            parentheses = blocks.pop().parentheses();
        }
        if (atMemberLevel() && parentheses == 0) {
            dropPending();
            boundary();
        }
    }

    private void endOfStatement() {
        if (atMemberLevel() && parentheses == 0) {
            dropPending();
            boundary();
        }
    }

    private void boundary() {
        header.setLength(0);
        boundaryLine = line;
    }

    private void dropPending() {
        found.addAll(pending);
        pending.clear();
    }

    private boolean atMemberLevel() {
        return blocks.isEmpty() || blocks.element().kind() == Kind.TYPE;
    }

    /** {@code Outer.Inner.method} of the test around this place; empty if there is none. */
    private String enclosingTest() {
        StringBuilder name = new StringBuilder();
        Iterator<Block> outermostFirst = blocks.descendingIterator();
        while (outermostFirst.hasNext()) {
            Block block = outermostFirst.next();
            if (block.kind() == Kind.OTHER) {
                return "";
            }
            name.append(name.isEmpty() ? "" : ".").append(block.name());
            if (block.kind() == Kind.TEST) {
                return name.toString();
            }
        }
        return "";
    }
}
