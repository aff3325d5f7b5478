// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.config.ConfigValue;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.FileProblem;
import io.smqtt.config.SecretMask;
import io.smqtt.migrate.SyntaxProblem;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.error.Mark;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.error.YAMLException;
import org.yaml.snakeyaml.events.AliasEvent;
import org.yaml.snakeyaml.events.CollectionEndEvent;
import org.yaml.snakeyaml.events.CollectionStartEvent;
import org.yaml.snakeyaml.events.Event;
import org.yaml.snakeyaml.events.MappingStartEvent;
import org.yaml.snakeyaml.events.ScalarEvent;
import org.yaml.snakeyaml.events.SequenceStartEvent;
import org.yaml.snakeyaml.parser.ParserImpl;
import org.yaml.snakeyaml.reader.StreamReader;

/**
 * A configuration file as flat keys with their lines. Only the events of the parser are used: there is no object mapping
 * to start up, and the line of every key is at hand. Anchors, tags and several documents have no use here and are refused.
 */
final class YamlFile {

    private static final String ROOT = "smqtt";
    private static final String BELOW = ROOT + ".";

    private final Path file;
    private final Path directory;
    private final String shownAs;
    private final Map<String, Integer> lines = new HashMap<>();
    private final Map<String, ConfigValue> found = new LinkedHashMap<>();
    private final Map<String, ConfigValue> values;
    private final List<String> problems = new ArrayList<>();

    private YamlFile(Path file, String shownAs, Map<String, ConfigValue> values) {
        this.file = file;
        Path parent = file.toAbsolutePath().getParent();
        this.directory = parent == null ? file.toAbsolutePath() : parent;
        this.shownAs = shownAs;
        this.values = values;
    }

    /**
     * Reads a file.
     *
     * @param file the file
     * @param shownAs its name in messages, as the user wrote it
     * @param values where keys are put, over what is there
     * @return what is wrong with some of its keys, one sentence each; the others are handed over
     * @throws ConfigurationException if the file cannot be read or is no such YAML
     */
    static List<String> read(Path file, String shownAs, Map<String, ConfigValue> values) {
        YamlFile yaml = new YamlFile(file, shownAs, values);
        yaml.read();
        yaml.hand();
        return yaml.problems;
    }

    private void read() {
        if (Files.isDirectory(file)) { // which can be opened, and fails at the first read
            throw new ConfigurationException(List.of(shownAs + ": the file is a directory, but must be a file"));
        }
        try (Reader reader = Files.newBufferedReader(file)) {
            Iterator<Event> events = new Events(new ParserImpl(new StreamReader(reader), new LoaderOptions()));
            events.next(); // stream start
            Event document = events.next();
            if (document.is(Event.ID.DocumentStart)) {
                root(events);
                events.next(); // document end
                Event next = events.next();
                if (!next.is(Event.ID.StreamEnd)) {
                    throw problem(next.getStartMark(), "only one document is allowed");
                }
            }
        } catch (MarkedYAMLException e) {
            throw problem(e.getProblemMark(), "is not valid YAML: " + SyntaxProblem.of(e));
        } catch (YAMLException | CharacterCodingException e) {
            throw new ConfigurationException(List.of(shownAs + ": is not valid YAML in UTF-8"));
        } catch (IOException e) {
            throw new ConfigurationException(List.of(shownAs + ": the file " + FileProblem.reason(file, e)));
        }
    }

    /** A file may have a root, as one of a Spring application has; then it has nothing beside it. */
    private void hand() {
        if (found.keySet().stream().noneMatch(key -> key.equals(ROOT) || key.startsWith(BELOW))) {
            values.putAll(found);
            return;
        }
        found.forEach((key, value) -> {
            String inner = key.startsWith(BELOW) ? key.substring(BELOW.length()) : "";
            if (inner.equals("enabled") || inner.startsWith("spring.")) {
                problems.add(value.origin() + ": " + key + " is for Spring applications; leave it out here");
            } else if (!inner.isEmpty()) {
                values.put(inner, value);
            } else if (!key.equals(ROOT)) {
                problems.add(value.origin() + ": " + SecretMask.key(key)
                        + " is beside the root smqtt, where this program has no keys");
            } else if (value.text() != null) {
                problems.add(value.origin() + ": smqtt is the root of all keys and takes no value");
            }
        });
    }

    private void root(Iterator<Event> events) {
        Event event = events.next();
        if (event instanceof MappingStartEvent) {
            mapping(events, "");
        } else if (!(event instanceof ScalarEvent) || !empty((ScalarEvent) event)) {
            throw problem(event.getStartMark(), "expected keys, such as listeners:");
        }
    }

    private void mapping(Iterator<Event> events, String prefix) {
        for (Event event = events.next(); !(event instanceof CollectionEndEvent); event = events.next()) {
            if (!(event instanceof ScalarEvent)) {
                throw problem(event.getStartMark(), "expected a key");
            }
            String key = prefix + ((ScalarEvent) event).getValue();
            int line = line(event.getStartMark());
            Integer first = lines.putIfAbsent(key, line);
            if (first != null) {
                note(event, SecretMask.key(key) + " is given twice, first in line " + first);
            }
            value(events, key, line);
        }
    }

    private void value(Iterator<Event> events, String key, int line) {
        Event event = events.next();
        if (event instanceof MappingStartEvent) {
            mapping(events, key + ".");
        } else if (event instanceof SequenceStartEvent) {
            put(key, String.join(",", sequence(events, key)), line);
        } else if (event instanceof ScalarEvent) {
            ScalarEvent scalar = (ScalarEvent) event;
            put(key, empty(scalar) ? null : scalar.getValue(), line);
        } else {
            throw problem(event.getStartMark(), "anchors and aliases are not supported");
        }
    }

    private List<String> sequence(Iterator<Event> events, String key) {
        List<String> items = new ArrayList<>();
        for (Event event = events.next(); !(event instanceof CollectionEndEvent); event = events.next()) {
            if (!(event instanceof ScalarEvent)) {
                note(event, SecretMask.key(key) + " must be a list of plain values");
                skip(events);
                continue;
            }
            String item = ((ScalarEvent) event).getValue();
            if (item.indexOf(',') >= 0) {
                note(event, SecretMask.key(key) + " holds a comma within an item of the list");
            }
            items.add(item);
        }
        return items;
    }

    /** Passes what is left of a mapping or list that has begun. */
    private static void skip(Iterator<Event> events) {
        for (int depth = 1; depth > 0; ) {
            Event event = events.next();
            if (event instanceof CollectionStartEvent) {
                depth++;
            } else if (event instanceof CollectionEndEvent) {
                depth--;
            }
        }
    }

    private void note(Event event, String what) {
        problems.addAll(problem(event.getStartMark(), what).problems());
    }

    private void put(String key, @Nullable String text, int line) {
        found.putIfAbsent(key, new ConfigValue(text, shownAs + ":" + line, directory));
    }

    /** Null in YAML: nothing, a tilde or the word, without quotes. */
    private static boolean empty(ScalarEvent scalar) {
        String text = scalar.getValue();
        return scalar.isPlain() && (text.isEmpty() || text.equals("~") || text.equalsIgnoreCase("null"));
    }

    private ConfigurationException problem(@Nullable Mark mark, String what) {
        return new ConfigurationException(List.of(shownAs + (mark == null ? "" : ":" + line(mark)) + ": " + what));
    }

    private static int line(Mark mark) {
        return mark.getLine() + 1;
    }

    /** The parser's events; an alias or anchor ends the reading. */
    private final class Events implements Iterator<Event> {
        private final ParserImpl parser;

        Events(ParserImpl parser) {
            this.parser = parser;
        }

        @Override
        public boolean hasNext() {
            return parser.peekEvent() != null;
        }

        @Override
        public Event next() {
            Event event = parser.getEvent();
            if (event instanceof AliasEvent) {
                throw problem(event.getStartMark(), "anchors and aliases are not supported");
            }
            return event;
        }
    }
}
