// SPDX-License-Identifier: Apache-2.0
package io.smqtt.migrate;

import io.smqtt.config.ConfigurationException;
import io.smqtt.config.SecretMask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.CollectionEndEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.MappingStartEvent;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.events.SequenceStartEvent;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;

/** YAML of any shape as flat keys: a list of plain values is one key with commas, any other list has indexes, {@code rules[0].name}. */
final class OldYaml {

    private final OldFile file;
    private final ParserImpl parser;
    private final List<OldSetting> settings = new ArrayList<>();
    private final Map<String, Integer> lines = new HashMap<>();

    private OldYaml(OldFile file) {
        this.file = file;
        // In JSON a tab is white space, because in a string it is written as two characters; YAML does not allow it.
        String text = OldFormat.of(file) == OldFormat.JSON ? file.text().replace('\t', ' ') : file.text();
        this.parser = new ParserImpl(new StreamReader(text), new LoaderOptions());
    }

    /** Reads one document. */
    static List<OldSetting> read(OldFile file) {
        try {
            OldYaml yaml = new OldYaml(file);
            yaml.document();
            return yaml.settings;
        } catch (MarkedYAMLException e) {
            Mark mark = e.getProblemMark();
            throw file.problem(mark == null ? 1 : line(mark), "is not valid YAML: " + SyntaxProblem.of(e));
        } catch (YAMLException e) {
            throw new ConfigurationException(List.of(file.shownAs() + ": is not valid YAML"));
        }
    }

    private void document() {
        next(); // stream start
        if (!next().is(Event.ID.DocumentStart)) {
            return;
        }
        Event root = next();
        if (root instanceof MappingStartEvent) {
            mapping("", 1);
        } else if (!(root instanceof ScalarEvent) || !text((ScalarEvent) root).isEmpty()) {
            throw file.problem(line(root.getStartMark()), "expected keys");
        }
        next(); // document end
        Event end = next();
        if (!end.is(Event.ID.StreamEnd)) {
            throw file.problem(line(end.getStartMark()), "only one document is allowed");
        }
    }

    private void mapping(String prefix, int depth) {
        for (Event event = next(); !(event instanceof CollectionEndEvent); event = next()) {
            if (!(event instanceof ScalarEvent)) {
                throw file.problem(line(event.getStartMark()), "expected a key");
            }
            int line = line(event.getStartMark());
            file.requireShort(prefix.length() + ((ScalarEvent) event).getValue().length(), line);
            String key = prefix + ((ScalarEvent) event).getValue();
            Integer first = lines.putIfAbsent(key, line);
            if (first != null) {
                throw file.problem(line, SecretMask.key(key) + " is given twice, first in line " + first);
            }
            value(key, next(), line, depth);
        }
    }

    private void value(String key, Event event, int line, int depth) {
        file.requireShort(key.length(), line);
        if (depth > OldFile.MAX_DEPTH) {
            throw file.problem(line, SecretMask.key(key) + " is nested deeper than " + OldFile.MAX_DEPTH + " levels");
        }
        if (event instanceof MappingStartEvent) {
            mapping(key + ".", depth + 1);
        } else if (event instanceof SequenceStartEvent) {
            sequence(key, line, depth + 1);
        } else if (event instanceof ScalarEvent) {
            add(key, text((ScalarEvent) event), line);
        } else {
            throw file.problem(line, SecretMask.key(key) + " uses an anchor or alias, which is not supported");
        }
    }

    private void sequence(String key, int line, int depth) {
        int from = settings.size();
        boolean plain = true;
        int place = 0;
        for (Event event = next(); !(event instanceof CollectionEndEvent); event = next()) {
            plain &= event instanceof ScalarEvent;
            value(key + "[" + place++ + "]", event, line(event.getStartMark()), depth);
        }
        if (plain) {
            List<OldSetting> items = settings.subList(from, settings.size());
            String joined = items.stream().map(OldSetting::value).collect(Collectors.joining(","));
            items.clear();
            add(key, joined, line);
        }
    }

    private void add(String key, String value, int line) {
        file.requireFew(settings, line);
        settings.add(new OldSetting(key, value, file.where(line)));
    }

    private static String text(ScalarEvent scalar) {
        String text = scalar.getValue();
        boolean empty = scalar.isPlain() && (text.equals("~") || text.equalsIgnoreCase("null"));
        return empty ? "" : text;
    }

    private Event next() {
        return parser.getEvent();
    }

    private static int line(@Nullable Mark mark) {
        return mark == null ? 1 : mark.getLine() + 1;
    }
}
