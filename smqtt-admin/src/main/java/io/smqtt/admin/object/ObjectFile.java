// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import com.fasterxml.jackson.databind.JsonNode;
import io.smqtt.admin.InvalidFieldException;
import io.smqtt.admin.JsonFields;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/**
 * All live objects as one JSON object, to be kept or taken to another broker. It has the hashes of passwords and secrets, so it is as secret
 * as the data directory. Objects of the configuration file are not in it.
 */
@AnyThread
public final class ObjectFile {

    private static final String FORMAT = "smqtt-objects";
    private static final int FORMAT_VERSION = 1;
    private static final int MAX_REPORTED = 10;

    private final LiveObjects objects;

    /**
     * Creates the reader and writer.
     *
     * @param objects the objects
     */
    public ObjectFile(LiveObjects objects) {
        this.objects = objects;
    }

    /**
     * The objects of one kind that a file has.
     *
     * @param kind the kind
     * @param values the values by identifier
     */
    record Section<T>(KindState<T> kind, Map<String, T> values) {

        void check() {
            kind.checkAll(values);
        }
    }

    /**
     * Writes all objects.
     *
     * @return the fields of the file
     */
    public Map<String, Object> write() {
        Map<String, Object> kinds = new LinkedHashMap<>();
        objects.kinds().forEach((name, kind) -> kinds.put(name, written(kind)));
        Map<String, Object> file = new LinkedHashMap<>();
        file.put("format", FORMAT);
        file.put("version", FORMAT_VERSION);
        file.put("objects", kinds);
        return file;
    }

    private static <T> List<Map<String, Object>> written(KindState<T> kind) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (LiveObject<T> object : kind.changeable()) {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("id", object.id());
            fields.put("value", kind.format().write(object.value()));
            all.add(fields);
        }
        return all;
    }

    /**
     * Creates the objects of a file, and replaces those with the same identifiers. Others stay. Nothing is changed if anything in the file is
     * not allowed. Nothing happens before subscription.
     *
     * @param file the fields of the file
     * @param origin who makes the change
     * @return the number of objects; fails with {@link InvalidFieldException}, which has up to ten problems, and with
     *     {@link ObjectRefusedException}
     */
    public Mono<Integer> read(JsonFields file, String origin) {
        return Mono.defer(() -> objects.replaceAll(sections(file), origin));
    }

    private List<Section<?>> sections(JsonFields file) {
        if (!FORMAT.equals(file.text("format")) || file.number("version", 1, Long.MAX_VALUE) != FORMAT_VERSION) {
            throw new InvalidFieldException("the file is not an export of objects in format " + FORMAT_VERSION);
        }
        JsonFields kinds = file.object("objects");
        List<String> problems = new ArrayList<>();
        List<Section<?>> sections = new ArrayList<>();
        for (Iterator<String> names = kinds.node().fieldNames(); names.hasNext(); ) {
            String name = names.next();
            KindState<?> kind = objects.kinds().get(name);
            if (kind == null) {
                problems.add("this broker has no objects " + name);
            } else {
                sections.add(section(kind, kinds.elements(name), problems));
            }
        }
        if (!problems.isEmpty()) {
            throw new InvalidFieldException(
                    String.join("; ", problems.subList(0, Math.min(problems.size(), MAX_REPORTED))));
        }
        return sections;
    }

    private static <T> Section<T> section(KindState<T> kind, Iterable<JsonNode> elements, List<String> problems) {
        Map<String, T> values = new LinkedHashMap<>();
        int number = 0;
        for (JsonNode element : elements) {
            number++;
            try {
                JsonFields fields = new JsonFields(element);
                String id = fields.text("id");
                if (values.put(id, kind.format().read(id, fields.object("value"))) != null) {
                    problems.add(kind.name() + " " + number + ": the identifier exists twice");
                }
            } catch (IllegalArgumentException e) {
                problems.add(kind.name() + " " + number + ": " + e.getMessage());
            }
        }
        return new Section<>(kind, values);
    }
}
