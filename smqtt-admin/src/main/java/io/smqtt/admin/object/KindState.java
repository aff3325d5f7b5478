// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import io.smqtt.admin.JsonFields;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The objects of one kind, as one node has them. Changed on the thread of the objects only. */
final class KindState<T> {

    private static final Logger LOG = LoggerFactory.getLogger(KindState.class);

    private final String name;
    private final ObjectFormat<T> format;
    private final ObjectLimits limits;
    private final ObjectRule<T> rule;
    private final LogLimiter unreadable = new LogLimiter(LOG, Level.WARN, 1);
    private final List<ObjectWatcher<T>> watchers = new ArrayList<>();
    private final Map<String, LiveObject<T>> live = new ConcurrentHashMap<>();
    private final Map<String, LiveObject<T>> fixed = new ConcurrentHashMap<>();

    /** The state of each topic; also of objects that cannot be read. */
    private final Map<String, Known> known = new HashMap<>();

    /** The versions of deleted objects by identifier, the deletion that was noticed first at the front. */
    private final Map<String, Long> deleted = new LinkedHashMap<>();

    private long bytes;

    /** An object that is not deleted. */
    private record Known(long version, int bytes) {}

    KindState(String name, ObjectFormat<T> format, ObjectLimits limits, ObjectRule<T> rule) {
        this.name = name;
        this.format = format;
        this.limits = limits;
        this.rule = rule;
    }

    String name() {
        return name;
    }

    @AnyThread
    @Nullable
    LiveObject<T> get(String id) {
        LiveObject<T> first = fixed.get(id);
        return first == null ? live.get(id) : first;
    }

    @AnyThread
    List<LiveObject<T>> list() {
        Map<String, LiveObject<T>> sorted = new TreeMap<>(live);
        sorted.putAll(fixed);
        return List.copyOf(sorted.values());
    }

    void watch(ObjectWatcher<T> watcher) {
        watchers.add(watcher);
        list().forEach(watcher::changed);
    }

    private void tell(Consumer<ObjectWatcher<T>> call) {
        for (ObjectWatcher<T> watcher : watchers) {
            try {
                call.accept(watcher);
            } catch (RuntimeException e) { // the others must get the change
                LOG.error("a change of {} was not applied", name, e);
            }
        }
    }

    void configured(Map<String, T> values) {
        for (String id : List.copyOf(fixed.keySet())) {
            if (!values.containsKey(id)) {
                fixed.remove(id);
                LiveObject<T> other = live.get(id);
                tell(other == null ? watcher -> watcher.removed(id) : watcher -> watcher.changed(other));
            }
        }
        values.forEach((id, value) -> {
            LiveObject<T> object = new LiveObject<>(id, value, LiveObject.FILE, 0);
            if (!object.equals(fixed.put(id, object))) {
                tell(watcher -> watcher.changed(object));
            }
        });
    }

    /**
     * Applies the present message of an object.
     *
     * @param payload null if there is no message
     */
    void apply(String id, byte @Nullable [] payload) {
        Known before = known.remove(id);
        bytes -= before == null ? 0 : before.bytes();
        deleted.remove(id);
        LiveObject<T> object = payload == null ? null : read(id, payload);
        if (object == null) {
            if (live.remove(id) != null && !fixed.containsKey(id)) {
                tell(watcher -> watcher.removed(id));
            }
        } else if (!object.equals(live.put(id, object)) && !fixed.containsKey(id)) {
            tell(watcher -> watcher.changed(object));
        }
    }

    /** The object of a message; null if it is deleted or cannot be read. */
    private @Nullable LiveObject<T> read(String id, byte[] payload) {
        try {
            Envelope envelope = Envelope.parse(payload);
            JsonFields value = envelope.value();
            if (value == null) {
                deleted.put(id, envelope.version());
                return null;
            }
            known.put(id, new Known(envelope.version(), payload.length));
            bytes += payload.length;
            return new LiveObject<>(id, format.read(id, value), envelope.origin(), envelope.version());
        } catch (IllegalArgumentException e) {
            if (unreadable.allows(name)) {
                LOG.warn("the {} \"{}\" cannot be read and is not used: {}", name, id, e.getMessage());
            }
            return null;
        }
    }

    /** The version of an object or of its deletion; 0 if there is neither. */
    long version(String id) {
        Known object = known.get(id);
        return object == null ? deleted.getOrDefault(id, 0L) : object.version();
    }

    /**
     * Checks a change.
     *
     * @param value the new value; null for a deletion
     * @throws ObjectRefusedException if it is refused
     */
    void check(String id, @Nullable T value, Expected expected) {
        checkId(id);
        check(expected, known.get(id), value == null);
        Map<String, T> before = values();
        Map<String, T> after = new HashMap<>(before);
        if (value == null) {
            after.remove(id);
        } else {
            after.put(id, value);
        }
        checkRule(before, after);
    }

    private void checkRule(Map<String, T> before, Map<String, T> after) {
        try {
            rule.check(before, after);
        } catch (IllegalArgumentException e) {
            throw new ObjectRefusedException(Reason.INVALID, String.valueOf(e.getMessage()));
        }
    }

    private Map<String, T> values() {
        Map<String, T> values = new HashMap<>();
        list().forEach(object -> values.put(object.id(), object.value()));
        return values;
    }

    private void check(Expected expected, @Nullable Known present, boolean deletes) {
        if (expected instanceof Expected.Nothing && present != null) {
            throw new ObjectRefusedException(Reason.EXISTS, "there is such a " + name + " already");
        }
        boolean needed = deletes || expected instanceof Expected.Something || expected instanceof Expected.Version;
        if (needed && present == null) {
            throw new ObjectRefusedException(Reason.MISSING, "there is no such " + name);
        }
        if (expected instanceof Expected.Version wanted && present != null && wanted.version() != present.version()) {
            throw new ObjectRefusedException(Reason.CHANGED, "the " + name + " has been changed in the meantime");
        }
    }

    /** Checks the limits for objects that are created or replaced. */
    void checkLimits(Map<String, T> values) {
        long sum = bytes;
        int count = known.size();
        for (Map.Entry<String, T> entry : values.entrySet()) {
            Known present = known.get(entry.getKey());
            int size = Envelope.write("", Long.MAX_VALUE, format.write(entry.getValue())).length;
            if (size > limits.objectBytes()) {
                throw new ObjectRefusedException(
                        Reason.LIMIT, "a " + name + " has at most " + limits.objectBytes() + " bytes as JSON");
            }
            sum += size - (present == null ? 0 : present.bytes());
            count += present == null ? 1 : 0;
        }
        if (count > Math.max(limits.count(), known.size())) {
            throw new ObjectRefusedException(Reason.LIMIT, "there are at most " + limits.count() + " objects " + name);
        }
        if (sum > limits.bytes()) {
            throw new ObjectRefusedException(
                    Reason.LIMIT, "the objects " + name + " have at most " + limits.bytes() + " bytes as JSON");
        }
    }

    /** Checks the creation or replacement of many objects at a time. */
    void checkAll(Map<String, T> values) {
        for (String id : values.keySet()) {
            checkId(id);
        }
        checkLimits(values);
        Map<String, T> before = values();
        Map<String, T> after = new HashMap<>(before);
        after.putAll(values);
        checkRule(before, after);
    }

    private void checkId(String id) {
        if (!ObjectTopic.isUsable(id)) {
            throw new ObjectRefusedException(Reason.INVALID, "an identifier has 1 to 1,024 characters");
        }
        if (fixed.containsKey(id)) {
            throw new ObjectRefusedException(
                    Reason.READ_ONLY, "the " + name + " is in the configuration file and cannot be changed here");
        }
    }

    /** The oldest deletion above the limit; null if there are not too many. */
    @Nullable
    String surplus() {
        return deleted.size() > limits.count() ? deleted.keySet().iterator().next() : null;
    }

    ObjectFormat<T> format() {
        return format;
    }

    /** The objects that are not of the configuration file, sorted. */
    List<LiveObject<T>> changeable() {
        return List.copyOf(new TreeMap<>(live).values());
    }
}
