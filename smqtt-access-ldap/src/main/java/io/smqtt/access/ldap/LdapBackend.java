// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResultEntry;
import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.guard.BackendBusyException;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.log.LogLimiter;
import io.smqtt.thread.AnyThread;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/**
 * Users and access rules in a directory. A client that has no entry, another backend may know; one that has an entry is accepted or refused. Requests block,
 * on threads of the backend.
 */
@AnyThread
final class LdapBackend implements AccessBackend {

    private static final Logger LOG = LoggerFactory.getLogger(LdapBackend.class);

    /**
     * The attributes of an entry that say who a client is.
     *
     * @param password the attribute with passwords or their hashes; null if the server checks them by a bind
     * @param superuser the attribute that says whether the client may do everything
     * @param enabled the attribute that says whether the client may connect
     * @param clientAttributes attributes of the directory by the name that they have as attributes of the client
     */
    record UserAttributes(
            @Nullable String password, String superuser, String enabled, Map<String, String> clientAttributes) {

        String[] names() {
            Stream<String> fixed =
                    password == null ? Stream.of(superuser, enabled) : Stream.of(superuser, enabled, password);
            return Stream.concat(fixed, clientAttributes.values().stream()).toArray(String[]::new);
        }
    }

    /**
     * An entry, and what is known of the password of the client.
     *
     * @param entry the entry
     * @param isRight whether the password is right
     * @param slowHashes hashes that are still to be compared if it is not
     */
    private record Candidate(Entry entry, boolean isRight, List<String> slowHashes) {}

    private final String name;
    private final Supplier<ReloadResult> files;
    private final EntrySearch search;
    private final UserAttributes user;
    private final EntryRules rules;
    private final Directory directory;
    private final Scheduler threads;
    private final PasswordChecks checks;
    private final LogLimiter lines = new LogLimiter(LOG, Level.WARN, 1);

    /**
     * Creates a backend.
     *
     * @param files reads the password of the account for searches again
     */
    LdapBackend(
            String name,
            Supplier<ReloadResult> files,
            EntrySearch search,
            UserAttributes user,
            EntryRules rules,
            Directory directory,
            Scheduler threads,
            PasswordChecks checks) {
        this.name = name;
        this.files = files;
        this.search = search;
        this.user = user;
        this.rules = rules;
        this.directory = directory;
        this.threads = threads;
        this.checks = checks;
    }

    @Override
    public Set<Ability> abilities() {
        return Set.of(Ability.USERS, Ability.RULES);
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        return blocking(() -> Optional.ofNullable(candidate(request)))
                .flatMap(Mono::justOrEmpty)
                .flatMap(candidate ->
                        isRight(candidate, request).map(right -> right ? allowed(candidate.entry) : BackendAnswer.DENY))
                .defaultIfEmpty(BackendAnswer.NOT_MINE);
    }

    private Mono<Boolean> isRight(Candidate candidate, BackendRequest request) {
        return candidate.isRight
                ? Mono.just(true)
                : Flux.fromIterable(candidate.slowHashes)
                        .concatMap(hash -> checks.matches(request, hash, null))
                        .any(matches -> matches);
    }

    @Override
    public Mono<List<AccessRule>> rules(BackendRequest request) {
        return blocking(() -> {
            Entry entry = entry(request, rules.attributes());
            return entry == null ? List.of() : rules.read(entry);
        });
    }

    private <T> Mono<T> blocking(Callable<T> work) {
        return Mono.fromCallable(work)
                .subscribeOn(threads)
                .onErrorMap(
                        RejectedExecutionException.class,
                        error -> new BackendBusyException(name + ": too many requests wait for a thread", false));
    }

    private @Nullable SearchResultEntry entry(BackendRequest request, String[] attributes) {
        SearchRequest made = search.request(request, attributes);
        return made == null ? null : directory.find(made);
    }

    private @Nullable Candidate candidate(BackendRequest request) {
        Entry entry = entry(request, user.names());
        byte[] password = request.password();
        if (entry == null) {
            return null;
        }
        if (password == null || password.length == 0 || isFalse(entry)) {
            return new Candidate(entry, false, List.of());
        }
        String attribute = user.password;
        return attribute == null
                ? new Candidate(entry, directory.accepts(entry.getDN(), password), List.of())
                : compared(entry, entry.getAttributeValueByteArrays(attribute), password);
    }

    private Candidate compared(Entry entry, byte @Nullable [][] values, byte[] password) {
        List<String> slow = new ArrayList<>();
        boolean isRight = false;
        for (byte[] value : values == null ? new byte[0][] : values) {
            String hash = LdapPassword.slowHash(value);
            if (hash != null) {
                slow.add(hash);
                continue;
            }
            LdapPassword.Match match = LdapPassword.match(value, password);
            isRight |= match == LdapPassword.Match.YES;
            if (match == LdapPassword.Match.UNREADABLE && lines.allows("scheme")) {
                LOG.warn("backend {}: a password has a scheme that is not known, or is damaged", name);
            }
        }
        return new Candidate(entry, isRight, slow);
    }

    private BackendAnswer allowed(Entry entry) {
        Map<String, String> attributes = new HashMap<>();
        user.clientAttributes.forEach((attribute, source) -> {
            String value = entry.getAttributeValue(source);
            if (value != null) {
                attributes.put(attribute, value);
            }
        });
        return new BackendAnswer.Allow(isTrue(entry.getAttributeValue(user.superuser)), attributes, null, null);
    }

    private boolean isFalse(Entry entry) {
        String value = entry.getAttributeValue(user.enabled);
        return value != null && !isTrue(value);
    }

    private static boolean isTrue(@Nullable String value) {
        return value != null && (value.equalsIgnoreCase("true") || value.equals("1"));
    }

    @Override
    public ReloadResult reload() {
        return files.get();
    }

    @Override
    public void close() {
        threads.dispose();
        checks.close();
        directory.close();
    }
}
