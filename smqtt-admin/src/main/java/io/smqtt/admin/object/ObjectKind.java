// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.object;

import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.thread.AnyThread;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The objects of one kind, for instance all bans. Reading takes no lock and does not wait. A change completes when it is applied on this
 * node and safe in its store, if it has one; other nodes apply it a moment later. Of changes that are made on two nodes at the same time, or
 * on both sides of a partition, the later one stays, on all nodes.
 *
 * @param <T> the type of the values, which are immutable
 */
@AnyThread
public final class ObjectKind<T> {

    private final LiveObjects all;
    private final KindState<T> state;

    ObjectKind(LiveObjects all, KindState<T> state) {
        this.all = all;
        this.state = state;
    }

    /**
     * Returns the name of the kind.
     *
     * @return a part of a topic
     */
    public String name() {
        return state.name();
    }

    /**
     * Returns an object.
     *
     * @param id the identifier
     * @return the object; null if there is none, or none that this version of the broker can read
     */
    public @Nullable LiveObject<T> get(String id) {
        return state.get(id);
    }

    /**
     * Returns all objects.
     *
     * @return a weakly consistent list, sorted by identifier
     */
    public List<LiveObject<T>> list() {
        return state.list();
    }

    /**
     * Creates or replaces an object. Nothing happens before subscription.
     *
     * @param id the identifier, 1 to 1,024 characters
     * @param value the content
     * @param expected the state that the change is meant for
     * @param origin who makes it, for instance {@code user alice}
     * @return the new version, on the thread of the objects. Fails with {@link ObjectRefusedException}; after {@link Reason#NOT_STORED} the
     *     change is in force, but a crash may undo it
     */
    public Mono<LiveObject<T>> put(String id, T value, Expected expected, String origin) {
        return all.change(state, id, value, expected, origin).mapNotNull(version -> state.get(id));
    }

    /**
     * Deletes an object. Nothing happens before subscription.
     *
     * @param id the identifier
     * @param expected the state that the change is meant for; {@link Expected#ANYTHING} and {@link Expected#SOMETHING} are the same
     * @param origin who makes the change
     * @return completes as {@link #put} does. Fails with {@link ObjectRefusedException}, also if there is no such object
     */
    public Mono<Void> delete(String id, Expected expected, String origin) {
        return all.change(state, id, null, expected, origin).then();
    }

    /**
     * Adds a watcher. It is called with all present objects, and then for each change. It is never removed.
     *
     * @param watcher the watcher
     */
    public void watch(ObjectWatcher<T> watcher) {
        all.execute(() -> state.watch(watcher));
    }

    /**
     * Sets the objects of the configuration file, which are read-only. They hide other objects with the same identifier.
     *
     * @param values the values by identifier; replaces those of an earlier call
     */
    public void configured(Map<String, T> values) {
        Map<String, T> copy = Map.copyOf(values);
        all.execute(() -> state.configured(copy));
    }
}
