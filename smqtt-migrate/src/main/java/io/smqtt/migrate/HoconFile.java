// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * HOCON as flat keys: a list of plain values is one key with commas, any other list has indexes, {@code rewrite[0].action}. The time is bounded
 * by {@link HoconScan} before the parser sees the text. Files that are included are read from the directory of the file and below.
 */
final class HoconFile {

    private final OldFile file;
    private final HoconIncludes includes;
    private final List<OldSetting> settings = new ArrayList<>();
    private final Map<OldSetting, Integer> order = new HashMap<>();

    private HoconFile(OldFile file) {
        this.file = file;
        this.includes = new HoconIncludes(file);
    }

    /**
     * What a file says.
     *
     * @param settings its keys in the order of the file
     * @param absent keys whose values are optional substitutions without a value
     * @param unused substitutions that a later line has replaced
     * @param missing optional includes that are not there: file and line
     * @param named the keys that substitutions stand for
     */
    record Content(
            List<OldSetting> settings,
            List<OldSetting> absent,
            List<HoconReferences.Reference> unused,
            List<String> missing,
            Set<String> named) {}

    /**
     * Reads a file and those that it includes.
     *
     * @throws ConfigurationException if it is malformed or exceeds a limit; the message has no text of the file
     */
    static Content read(OldFile file) {
        return new HoconFile(file).content();
    }

    private Content content() {
        object("", parse(file, includes), 0);
        settings.sort(Comparator.<OldSetting>comparingInt(setting -> order.getOrDefault(setting, 0))
                .thenComparing(OldSetting::key));
        Map<String, String> values = new HashMap<>();
        settings.forEach(setting -> values.put(setting.key(), setting.value()));
        HoconReferences references = new HoconReferences(includes.references());
        List<OldSetting> absent = new ArrayList<>();
        List<OldSetting> resolved = references.resolve(settings, values, absent);
        return new Content(resolved, absent, references.unused(), includes.missing(), references.named());
    }

    /** Parses one file, without substitutions. */
    static ConfigObject parse(OldFile file, HoconIncludes includes) {
        String text = includes.scan(file);
        try {
            return ConfigFactory.parseString(
                            text,
                            ConfigParseOptions.defaults()
                                    .setSyntax(ConfigSyntax.CONF)
                                    .setOriginDescription(file.shownAs())
                                    .setIncluder(includes))
                    .root();
        } catch (ConfigException e) {
            throw file.problem(line(e.origin()), "is not valid HOCON" + reason(e));
        }
    }

    /** The kind of the error. The parser's own words quote the file, which may have secrets. */
    private static String reason(ConfigException e) {
        return String.valueOf(e.getMessage()).contains("Cannot concatenate")
                ? ": an object, or a substitution that stands for one, is joined with another value"
                : "";
    }

    private void object(String prefix, ConfigObject object, int depth) {
        if (object.isEmpty() && !prefix.isEmpty()) {
            add(prefix.substring(0, prefix.length() - 1), "", object);
        }
        object.forEach((key, value) -> value(prefix + key, value, depth + 1));
    }

    private void value(String key, ConfigValue value, int depth) {
        file.requireShort(key.length(), line(value.origin()));
        if (depth > OldFile.MAX_DEPTH) {
            throw new ConfigurationException(List.of(where(value) + ": " + SecretMask.key(key)
                    + " is nested deeper than " + OldFile.MAX_DEPTH + " levels"));
        }
        if (value instanceof ConfigObject object) {
            object(key + ".", object, depth);
        } else if (value instanceof ConfigList list) {
            list(key, list, depth);
        } else {
            add(key, text(value), value);
        }
    }

    private void list(String key, ConfigList list, int depth) {
        boolean plain = list.stream().noneMatch(item -> item instanceof ConfigObject || item instanceof ConfigList);
        if (plain) {
            add(key, list.stream().map(HoconFile::text).collect(Collectors.joining(",")), list);
            return;
        }
        int place = 0;
        for (ConfigValue item : list) {
            value(key + "[" + place++ + "]", item, depth + 1);
        }
    }

    private static String text(ConfigValue value) {
        return value.valueType() == ConfigValueType.NULL ? "" : String.valueOf(value.unwrapped());
    }

    private void add(String key, String text, ConfigValue value) {
        file.requireFew(settings, line(value.origin()));
        OldSetting setting = new OldSetting(key, text, where(value));
        order.put(
                setting, includes.place(value.origin().description()) * (OldFile.MAX_BYTES + 1) + line(value.origin()));
        settings.add(setting);
    }

    private String where(ConfigValue value) {
        return includes.file(value.origin().description()).where(line(value.origin()));
    }

    private static int line(@Nullable ConfigOrigin origin) {
        return origin == null ? 1 : Math.max(1, origin.lineNumber());
    }
}
