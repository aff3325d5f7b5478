// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.ProtocolKeyword;
import io.smqtt.rules.sink.RowTemplate;
import io.smqtt.rules.sink.RowText;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A command whose words have placeholders. Each word is one argument, whatever the values are. Immutable. */
@AnyThread
final class CommandTemplate {

    /** A word in quotes, in which a backslash makes the next character part of it, or one without spaces outside of its placeholders. */
    private static final Pattern WORD = Pattern.compile(
            "\\s*+(?:\"(?<quoted>(?:[^\"\\\\]|\\\\.)*+)\"(?=\\s|$)|(?<plain>(?:\\$\\{[^}]*}|[^\\s\"])++)(?=\\s|$))");

    /** What ends a pipeline, or makes the connection another one. */
    private static final Set<String> REFUSED = Set.of(
            "AUTH",
            "BLMOVE",
            "BLMPOP",
            "BLPOP",
            "BRPOP",
            "BRPOPLPUSH",
            "BZMPOP",
            "BZPOPMAX",
            "BZPOPMIN",
            "CLIENT",
            "DISCARD",
            "EXEC",
            "HELLO",
            "MONITOR",
            "MULTI",
            "PSUBSCRIBE",
            "PSYNC",
            "PUNSUBSCRIBE",
            "QUIT",
            "READONLY",
            "READWRITE",
            "REPLCONF",
            "RESET",
            "SELECT",
            "SHUTDOWN",
            "SSUBSCRIBE",
            "SUBSCRIBE",
            "SUNSUBSCRIBE",
            "SYNC",
            "UNSUBSCRIBE",
            "UNWATCH",
            "WAIT",
            "WAITAOF",
            "WATCH",
            "XREAD",
            "XREADGROUP");

    /** Commands whose keys are not their first argument alone. */
    private static final Set<String> SEVERAL_KEYS = Set.of(
            "BITOP",
            "COPY",
            "DEL",
            "EXISTS",
            "GEORADIUS",
            "GEORADIUSBYMEMBER",
            "GEOSEARCHSTORE",
            "LMOVE",
            "LMPOP",
            "MSET",
            "MSETNX",
            "PFCOUNT",
            "PFMERGE",
            "RENAME",
            "RENAMENX",
            "RPOPLPUSH",
            "SDIFFSTORE",
            "SINTERSTORE",
            "SMOVE",
            "SORT",
            "SUNIONSTORE",
            "TOUCH",
            "UNLINK",
            "ZDIFFSTORE",
            "ZINTERSTORE",
            "ZMPOP",
            "ZRANGESTORE",
            "ZUNIONSTORE");

    private static final Set<String> SCRIPTS = Set.of("EVAL", "EVALSHA", "FCALL");

    private final Name name;
    private final List<RowTemplate> arguments;
    private final int key;

    private CommandTemplate(Name name, List<RowTemplate> arguments) {
        this.name = name;
        this.arguments = List.copyOf(arguments);
        this.key = SCRIPTS.contains(name.text()) ? 2 : 0;
    }

    /** The first word of a command. */
    private record Name(String text) implements ProtocolKeyword {

        @Override
        public byte[] getBytes() {
            return text.getBytes(US_ASCII);
        }

        @Override
        public String toString() {
            return text;
        }
    }

    /**
     * Reads a command.
     *
     * @param text words between spaces
     * @param template parses a word
     * @throws IllegalArgumentException with the rest of a sentence that begins with the key
     */
    static CommandTemplate parse(String text, Function<String, RowTemplate> template) {
        List<RowTemplate> words = new ArrayList<>();
        String whole = text.strip();
        Matcher word = WORD.matcher(whole);
        int end = 0;
        while (end < whole.length()) {
            if (!word.find(end) || word.start() != end) {
                throw new IllegalArgumentException("has a quote that is not closed, or inside of a word");
            }
            String quoted = word.group("quoted");
            words.add(template.apply(quoted == null ? word.group("plain") : quoted.replaceAll("\\\\(.)", "$1")));
            end = word.end();
        }
        if (words.size() < 2 || !words.get(0).isFixed()) {
            throw new IllegalArgumentException(
                    "must be the name of a command and its arguments, such as SET ${clientid} ${t}");
        }
        String name = words.get(0).text(Map.of()).toUpperCase(Locale.ROOT);
        if (REFUSED.contains(name)) {
            throw new IllegalArgumentException("cannot be " + name + ", which blocks or changes the connection");
        }
        return new CommandTemplate(new Name(name), words.subList(1, words.size()));
    }

    /** {@code PING}. */
    static CommandTemplate ping() {
        return new CommandTemplate(new Name("PING"), List.of());
    }

    /** Whether all rows have the same keys. */
    boolean hasFixedKeys() {
        if (SCRIPTS.contains(name.text())) {
            int keys = fixedNumber(1);
            return areFixed(keys < 0 ? arguments.size() : 2 + keys);
        }
        return areFixed(SEVERAL_KEYS.contains(name.text()) ? arguments.size() : 1);
    }

    private boolean areFixed(int end) {
        return arguments.stream().limit(end).allMatch(RowTemplate::isFixed);
    }

    /** The number that is an argument of all rows; -1 if it is none. */
    private int fixedNumber(int argument) {
        String text = argument < arguments.size() && arguments.get(argument).isFixed()
                ? arguments.get(argument).text(Map.of())
                : "";
        return text.matches("[0-9]{1,6}") ? Integer.parseInt(text) : -1;
    }

    /** The command of a row. */
    AsyncCommand<byte[], byte[], Boolean> command(Map<String, @Nullable Object> row) {
        CommandArgs<byte[], byte[]> values = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        for (int i = 0; i < arguments.size(); i++) {
            byte[] value = bytes(arguments.get(i).value(row));
            if (i == key) {
                values.addKey(value); // by which a cluster finds the node
            } else {
                values.add(value);
            }
        }
        return new AsyncCommand<>(new Command<>(name, new AnyReply(), values));
    }

    private static byte[] bytes(@Nullable Object value) {
        return value instanceof byte[] bytes ? bytes : RowText.plain(value).getBytes(UTF_8);
    }
}
