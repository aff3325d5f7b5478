// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.FilterWriter;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Help.ColorScheme;
import picocli.CommandLine.Help.IOptionRenderer;
import picocli.CommandLine.Help.IParameterRenderer;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * Help texts whose lines end between words. Picocli also breaks lines at dots, slashes and hyphens, hence within names of files,
 * keys and addresses. While a text is laid out letters stand in their places, at which no line is broken; on the way out they are put back.
 */
final class WholeWords {

    private static final String MARKS = "./-:=,%+?&()[]<>$";
    private static final char FIRST_LETTER = '\u0250'; // phonetic letters, of which no help text has any

    private WholeWords() {}

    /** Lays the help of a command and of all below it out so. */
    static void keepIn(CommandLine line) {
        UsageMessageSpec usage = line.getCommandSpec().usageMessage();
        usage.description(kept(usage.description())).footer(kept(usage.footer()));
        line.setHelpFactory(WholeWordHelp::new);
        line.getSubcommands().values().forEach(WholeWords::keepIn);
    }

    private static String[] kept(String[] texts) {
        return Arrays.stream(texts).map(WholeWords::kept).toArray(String[]::new);
    }

    private static String kept(String text) {
        StringBuilder kept = new StringBuilder(text);
        for (int i = 1; i < text.length() - 1; i++) {
            int mark = MARKS.indexOf(text.charAt(i));
            if (mark >= 0 && text.charAt(i - 1) != ' ' && text.charAt(i + 1) != ' ' && text.charAt(i) != '%') {
                kept.setCharAt(i, (char) (FIRST_LETTER + mark));
            }
        }
        return kept.toString();
    }

    /** {@return the text with its own marks} */
    static String restored(String text) {
        StringBuilder restored = new StringBuilder(text);
        for (int i = 0; i < text.length(); i++) {
            int mark = text.charAt(i) - FIRST_LETTER;
            if (mark >= 0 && mark < MARKS.length()) {
                restored.setCharAt(i, MARKS.charAt(mark));
            }
        }
        return restored.toString();
    }

    /** {@return a writer that puts the marks back} */
    static PrintWriter restoring(PrintStream stream) {
        Writer filter = new FilterWriter(new PrintWriter(stream, true, StandardCharsets.UTF_8)) {
            @Override
            public void write(int c) throws IOException {
                out.write(restored(String.valueOf((char) c)));
            }

            @Override
            public void write(char[] text, int offset, int length) throws IOException {
                out.write(restored(new String(text, offset, length)));
            }

            @Override
            public void write(String text, int offset, int length) throws IOException {
                out.write(restored(text.substring(offset, offset + length)));
            }
        };
        return new PrintWriter(filter, true);
    }

    private static final class WholeWordHelp extends Help {

        WholeWordHelp(CommandSpec spec, ColorScheme colors) {
            super(spec, colors);
        }

        @Override
        public IOptionRenderer createDefaultOptionRenderer() {
            IOptionRenderer all = super.createDefaultOptionRenderer();
            return (option, label, colors) -> kept(all.render(option, label, colors));
        }

        @Override
        public IParameterRenderer createDefaultParameterRenderer() {
            IParameterRenderer all = super.createDefaultParameterRenderer();
            return (parameter, label, colors) -> kept(all.render(parameter, label, colors));
        }

        /** The last column has the words; flags before it are never broken. */
        private static Text[][] kept(Text[][] rows) {
            for (Text[] row : rows) {
                int last = row.length - 1;
                row[last] = Ansi.OFF.new Text(WholeWords.kept(row[last].plainString()));
            }
            return rows;
        }
    }
}
