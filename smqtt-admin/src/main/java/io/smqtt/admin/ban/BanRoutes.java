// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.ban;

import io.smqtt.admin.BrokerView;
import io.smqtt.admin.account.Role;
import io.smqtt.admin.api.ApiAnswer;
import io.smqtt.admin.api.ApiRequest;
import io.smqtt.admin.api.Problem;
import io.smqtt.admin.api.Route;
import io.smqtt.admin.api.RouteGroup;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.ObjectRefusedException;
import io.smqtt.admin.object.ObjectRefusedException.Reason;
import io.smqtt.admin.security.ObjectProblems;
import io.smqtt.admin.security.Origins;
import io.smqtt.thread.AnyThread;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code /banned}: the bans, which all nodes have. */
@AnyThread
public final class BanRoutes implements RouteGroup {

    private static final int BODY_BYTES = 16_384;
    private static final int DEFAULT_LIMIT = 100;
    private static final int MOST_PAGES = 1_000_000;
    private static final int AT_ONCE = 64;
    private static final String MISSING = "NOT_FOUND";

    private final BanPart part;

    /**
     * Creates the routes.
     *
     * @param part the bans
     */
    public BanRoutes(BanPart part) {
        this.part = part;
    }

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get("/banned", Role.VIEWER, this::list),
                new Route("POST", "/banned", Role.OPERATOR, BODY_BYTES, this::create),
                Route.delete("/banned", Role.OPERATOR, this::deleteAll),
                Route.delete("/banned/{as}/{who}", Role.OPERATOR, this::delete));
    }

    private List<Ban> present() {
        Instant now = part.clock().instant();
        return part.objects().list().stream()
                .map(LiveObject::value)
                .filter(ban -> !ban.hasEnded(now))
                .toList();
    }

    private Mono<ApiAnswer> list(ApiRequest request) {
        int page = (int) request.number("page", 1, 1, MOST_PAGES);
        int limit = (int) request.number("limit", DEFAULT_LIMIT, 1, BrokerView.MAX_ENTRIES);
        List<Ban> wanted =
                present().stream().filter(ban -> isWanted(ban, request)).toList();
        long skipped = (long) (page - 1) * limit;
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put(
                "data",
                wanted.stream().skip(skipped).limit(limit).map(this::row).toList());
        fields.put(
                "meta",
                Map.of(
                        "page",
                        page,
                        "limit",
                        limit,
                        "count",
                        wanted.size(),
                        "hasnext",
                        wanted.size() > skipped + limit));
        return Mono.just(ApiAnswer.json(fields));
    }

    /** The fields of a ban, and where it is if it is in the file. */
    private Map<String, Object> row(Ban ban) {
        Map<String, Object> fields = BanFormat.fields(ban);
        String source = part.source(ban.id());
        if (source != null) {
            fields.put("source", source);
        }
        return fields;
    }

    /** Refuses a change of a ban that is in the file. */
    private void requireNotInFile(String id) {
        String source = part.source(id);
        if (source != null) {
            throw new Problem(
                            409,
                            "READ_ONLY",
                            "the ban is in " + source + "; change it there, and let the broker reload its files")
                    .exception();
        }
    }

    /** Whether a ban is what the parameters name; those of different kinds exclude each other, as EMQX's do. */
    private static boolean isWanted(Ban ban, ApiRequest request) {
        for (BanKind kind : BanKind.values()) {
            if (!fits(ban, kind, request.query(kind.text()), String::equals)
                    || !fits(ban, kind, request.query("like_" + kind.text()), String::contains)) {
                return false;
            }
        }
        return true;
    }

    private static boolean fits(Ban ban, BanKind kind, @Nullable String text, BiPredicate<String, String> test) {
        return text == null || (ban.as() == kind && test.test(ban.who(), text));
    }

    private Mono<ApiAnswer> create(ApiRequest request) {
        Instant now = part.clock().instant().truncatedTo(ChronoUnit.SECONDS);
        String origin = Origins.of(request);
        Ban ban = BanFormat.read(request.fields(), origin, now);
        if (ban.hasEnded(now)) {
            throw Problem.badRequest("the field until must be in the future").exception();
        }
        requireNotInFile(ban.id());
        LiveObject<Ban> before = part.objects().get(ban.id());
        boolean ended = before != null && before.value().hasEnded(now);
        return ObjectProblems.answered(
                part.objects()
                        .put(ban.id(), ban, ended ? Expected.ANYTHING : Expected.NOTHING, origin)
                        .map(made -> ApiAnswer.json(BanFormat.fields(made.value()))),
                MISSING);
    }

    private Mono<ApiAnswer> delete(ApiRequest request) {
        BanKind as = BanKind.of(request.path("as"));
        String id = Ban.id(as, as.checked(request.path("who")));
        requireNotInFile(id);
        return ObjectProblems.answered(
                part.objects()
                        .delete(id, Expected.SOMETHING, Origins.of(request))
                        .thenReturn(ApiAnswer.noContent()),
                MISSING);
    }

    private Mono<ApiAnswer> deleteAll(ApiRequest request) {
        return ObjectProblems.answered(
                Flux.fromIterable(part.objects().list())
                        .filter(object -> !object.isReadOnly())
                        .flatMap(object -> deleted(object, request), AT_ONCE)
                        .then(Mono.just(ApiAnswer.noContent())),
                MISSING);
    }

    private Mono<Void> deleted(LiveObject<Ban> object, ApiRequest request) {
        return part.objects()
                .delete(object.id(), Expected.ANYTHING, Origins.of(request))
                .onErrorResume(BanRoutes::isGone, error -> Mono.empty());
    }

    /** Whether the ban was deleted or became read-only since it was looked up. */
    private static boolean isGone(Throwable error) {
        return error instanceof ObjectRefusedException refused
                && (refused.reason() == Reason.MISSING || refused.reason() == Reason.READ_ONLY);
    }
}
