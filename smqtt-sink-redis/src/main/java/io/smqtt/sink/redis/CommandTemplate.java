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

    /** Commands whose only key, or channel, is their first argument. Any argument of another one may be a key. */
    private static final Set<String> ONE_KEY = Set.of(
            "APPEND",
            "BF.ADD",
            "BF.INSERT",
            "BF.MADD",
            "BITFIELD",
            "CF.ADD",
            "CF.ADDNX",
            "CF.DEL",
            "CF.INSERT",
            "CMS.INCRBY",
            "DECR",
            "DECRBY",
            "EXPIRE",
            "EXPIREAT",
            "GEOADD",
            "GETDEL",
            "GETEX",
            "GETSET",
            "HDEL",
            "HEXPIRE",
            "HEXPIREAT",
            "HINCRBY",
            "HINCRBYFLOAT",
            "HMSET",
            "HPEXPIRE",
            "HPEXPIREAT",
            "HSET",
            "HSETEX",
            "HSETNX",
            "INCR",
            "INCRBY",
            "INCRBYFLOAT",
            "JSON.ARRAPPEND",
            "JSON.ARRINSERT",
            "JSON.DEL",
            "JSON.MERGE",
            "JSON.NUMINCRBY",
            "JSON.SET",
            "JSON.STRAPPEND",
            "LINSERT",
            "LPUSH",
            "LPUSHX",
            "LREM",
            "LSET",
            "LTRIM",
            "PERSIST",
            "PEXPIRE",
            "PEXPIREAT",
            "PFADD",
            "PSETEX",
            "PUBLISH",
            "RPUSH",
            "RPUSHX",
            "SADD",
            "SET",
            "SETBIT",
            "SETEX",
            "SETNX",
            "SETRANGE",
            "SPUBLISH",
            "SREM",
            "TDIGEST.ADD",
            "TOPK.ADD",
            "TS.ADD",
            "TS.DECRBY",
            "TS.INCRBY",
            "XADD",
            "XDEL",
            "XTRIM",
            "ZADD",
            "ZINCRBY",
            "ZREM",
            "ZREMRANGEBYLEX",
            "ZREMRANGEBYRANK",
            "ZREMRANGEBYSCORE");

    /** Commands whose keys follow their number, which is the second argument. */
    private static final Set<String> SCRIPTS = Set.of("EVAL", "EVALSHA", "EVALSHA_RO", "EVAL_RO", "FCALL", "FCALL_RO");

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
        return areFixed(ONE_KEY.contains(name.text()) ? 1 : arguments.size());
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
