// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.backend.TemplateValues;
import io.smqtt.access.backend.TopicRequest;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import io.smqtt.thread.AnyThread;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** An HTTP server as mosquitto-go-auth asks it. What it does not accept, the next backend may. */
@AnyThread
final class GoAuthBackend implements AccessBackend {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** How an answer says yes. */
    enum ResponseMode {
        /** By a status of 200 to 299. */
        STATUS,
        /** By a JSON object with {@code Ok}. */
        JSON,
        /** By the text {@code ok}. */
        TEXT
    }

    private final HttpSender sender;
    private final ResponseMode mode;
    private final HttpQuestion users;
    private final @Nullable HttpQuestion superusers;
    private final @Nullable HttpQuestion topics;

    GoAuthBackend(
            HttpSender sender,
            ResponseMode mode,
            HttpQuestion users,
            @Nullable HttpQuestion superusers,
            @Nullable HttpQuestion topics) {
        this.sender = sender;
        this.mode = mode;
        this.users = users;
        this.superusers = superusers;
        this.topics = topics;
    }

    @Override
    public Set<Ability> abilities() {
        return topics == null ? EnumSet.of(Ability.USERS) : EnumSet.of(Ability.USERS, Ability.TOPICS);
    }

    @Override
    public Mono<BackendAnswer> authenticate(BackendRequest request) {
        boolean isNoText = request.password() != null && request.passwordText() == null;
        if (isNoText || users.leavesPath(request) || (superusers != null && superusers.leavesPath(request))) {
            return Mono.just(BackendAnswer.DENY);
        }
        return ask(users, request).flatMap(yes -> {
            if (!yes) {
                return Mono.just(BackendAnswer.NOT_MINE);
            }
            Mono<Boolean> superuser = superusers == null ? Mono.just(false) : ask(superusers, request);
            return superuser.map(all -> new BackendAnswer.Allow(all, Map.of(), null, null));
        });
    }

    @Override
    public Mono<AccessDecision> authorize(TopicRequest request) {
        if (topics == null) {
            return AccessDecision.CONTINUE.now();
        }
        String access = request.action() == AccessAction.PUBLISH ? "2" : "4";
        TemplateValues values = name -> name.equals("access") ? access : request.value(name);
        if (topics.leavesPath(values)) {
            return AccessDecision.DENY.now();
        }
        return ask(topics, values).map(yes -> yes ? AccessDecision.ALLOW : AccessDecision.CONTINUE);
    }

    private Mono<Boolean> ask(HttpQuestion question, TemplateValues values) {
        return sender.send(question.fill(values)).map(answer -> isYes(mode, answer));
    }

    /**
     * Whether an answer says yes.
     *
     * @throws HttpFailedException if the server has failed
     */
    static boolean isYes(ResponseMode mode, HttpAnswer answer) {
        if (answer.isFailure()) {
            throw new HttpFailedException("status " + answer.status());
        }
        if (!answer.isSuccess()) {
            return false;
        }
        return switch (mode) {
            case STATUS -> true;
            case TEXT -> answer.body().strip().equals("ok");
            case JSON -> isOk(answer.body());
        };
    }

    private static boolean isOk(String body) {
        try {
            JsonNode json = JSON.readTree(body);
            return json != null
                    && (json.path("Ok").asBoolean(false) || json.path("ok").asBoolean(false));
        } catch (JsonProcessingException e) {
            throw new HttpFailedException("a body that is no JSON");
        }
    }

    @Override
    public void close() {
        sender.close();
    }
}
