// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.security;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.JsonFields;
import io.smqtt.admin.account.AccountCallers;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.account.Callers;
import io.smqtt.admin.account.Credentials;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.broker.NodeCalls;
import io.smqtt.thread.AnyThread;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Makes login tokens valid at each node. A token names the node that has made it; another node asks that one for the login when the token is
 * used there, and again every ten seconds. Role, deletion and password of the user are those that this node knows.
 */
@AnyThread
public final class ClusterLogins {

    private static final String FIND = "login.find";
    private static final String END = "login.end";
    private static final String KEY = "key";
    private static final String QUIETLY = "quietly";
    private static final String USER = "user";
    private static final String PASSWORD = "password";
    private static final String UNKNOWN = "BAD_TOKEN";
    private static final int TAG_BYTES = 4;

    /** Maximum number of questions at a time: anybody can send tokens that are wrong. */
    private static final int MAX_ASKED = 32;

    private static final Callers.Refusal BUSY = new Callers.Refusal(
            503, "SERVICE_UNAVAILABLE", "the node of this login cannot be asked now; try again", Duration.ofSeconds(1));

    private final BrokerView view;
    private final Accounts accounts;
    private final NodeCalls calls;
    private final AtomicInteger asked = new AtomicInteger();

    /**
     * Creates it.
     *
     * @param view the broker
     * @param accounts the logins of this node
     * @param calls reaches the other nodes
     */
    public ClusterLogins(BrokerView view, Accounts accounts, NodeCalls calls) {
        this.view = view;
        this.accounts = accounts;
        this.calls = calls;
        calls.register(FIND, question -> Mono.justOrEmpty(found(question)));
        calls.register(
                END,
                question -> Mono.fromCallable(() -> {
                    accounts.endLogin(question.text(KEY));
                    return Map.of("done", true);
                }));
    }

    private @Nullable Map<String, String> found(JsonFields question) {
        Accounts.Lent login = accounts.lent(question.text(KEY), question.flag(QUIETLY));
        return login == null ? null : Map.of(USER, login.user(), PASSWORD, login.passwordHash());
    }

    /**
     * Adds the name of this node to a token that it has made.
     *
     * @param token the token
     * @return the token for the caller
     */
    String named(String token) {
        return token + '.' + tag(view.nodeName());
    }

    private static String tag(String node) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(node.getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(hash, 0, TAG_BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The other node that has made a token; null if there is none. */
    private @Nullable String nodeOf(String token) {
        String tag = token.substring(token.indexOf('.') + 1);
        return calls.nodes().stream()
                .filter(node -> tag(node).equals(tag) && !node.equals(view.nodeName()))
                .findFirst()
                .orElse(null);
    }

    /**
     * Ends a login on all nodes.
     *
     * @param token its token
     * @return completes when the nodes that answer know it; fails if the one that has made it does not answer
     */
    Mono<Void> end(String token) {
        String maker = nodeOf(token);
        return calls.askAll(END, Map.of(KEY, Accounts.keyOf(token)))
                .doOnNext(answers -> {
                    if (maker != null && answers.incomplete().contains(maker)) {
                        throw Problem.unavailable(
                                        "the node of this login did not answer; the login ends there an hour after its last use")
                                .exception();
                    }
                })
                .then();
    }

    /**
     * Accepts tokens of other nodes, too.
     *
     * @param own authenticates callers of this node
     * @return authenticates callers of all nodes
     */
    public Callers around(Callers own) {
        return new Callers() {

            @Override
            public @Nullable Refusal refusal(Credentials credentials) {
                return own.refusal(credentials);
            }

            @Override
            public Mono<Identification> identify(Credentials credentials) {
                Mono<Identification> here = Mono.defer(() -> own.identify(credentials));
                return here.flatMap(found -> elsewhere(credentials, found, false, here));
            }

            @Override
            public Mono<Identification> identifyAgain(Credentials credentials) {
                Mono<Identification> here = Mono.defer(() -> own.identifyAgain(credentials));
                return here.flatMap(found -> elsewhere(credentials, found, true, here));
            }

            @Override
            public boolean isKnown(@Nullable String authorization) {
                return own.isKnown(authorization);
            }
        };
    }

    private Mono<Callers.Identification> elsewhere(
            Credentials credentials,
            Callers.Identification found,
            boolean quietly,
            Mono<Callers.Identification> again) {
        String token = AccountCallers.bearer(credentials.authorization());
        boolean unknown =
                found instanceof Callers.Refusal refusal && refusal.code().equals(UNKNOWN);
        String node = unknown && token != null ? nodeOf(token) : null;
        if (node == null || token == null) {
            return Mono.just(found);
        }
        if (asked.incrementAndGet() > MAX_ASKED) {
            asked.decrementAndGet();
            return Mono.just(BUSY);
        }
        String key = Accounts.keyOf(token);
        return Mono.defer(() -> calls.askOne(node, FIND, Map.of(KEY, key, QUIETLY, quietly)))
                .doOnNext(answer -> lend(key, JsonFields.of(answer), quietly))
                .then(again)
                .onErrorReturn(found) // the node does not answer, or has no such login
                .doFinally(end -> asked.decrementAndGet());
    }

    private void lend(String key, JsonFields login, boolean quietly) {
        accounts.lend(key, new Accounts.Lent(login.text(USER), login.text(PASSWORD)), quietly);
    }
}
