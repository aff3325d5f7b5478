// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.http;

import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.Authorities;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.backend.Template;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Makes backends of the type {@code http}. */
public final class HttpBackendFactory implements AccessBackendFactory {

    private static final List<String> METHODS = List.of("post", "get");

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public HttpBackendFactory() {}

    @Override
    public String type() {
        return "http";
    }

    @Override
    public List<BackendSetting> settings() {
        return List.of(
                BackendSetting.choice(
                        "style",
                        "emqx",
                        List.of("emqx", "go-auth"),
                        "the form of requests and answers: `emqx` or `go-auth`"),
                BackendSetting.text(
                        "url", "the URL that is asked about clients; with `go-auth` the server, before the paths"),
                BackendSetting.choice("method", "post", METHODS, "`post` or `get`"),
                BackendSetting.entries("headers", "headers of the requests"),
                BackendSetting.entries(
                        "body",
                        "fields of the request, as JSON, or as a form with `headers.content-type`"
                                + " `application/x-www-form-urlencoded`; with `get` in the query"),
                BackendSetting.text("acl.url", "the URL that is asked about topics; without it none is"),
                BackendSetting.choice("acl.method", "post", METHODS, "`post` or `get`"),
                BackendSetting.entries("acl.headers", "headers of the requests about topics"),
                BackendSetting.entries("acl.body", "fields of the requests about topics"),
                BackendSetting.text("getuser-uri", "/user", "`go-auth`: the path that is asked about clients"),
                BackendSetting.text(
                        "superuser-uri", "`go-auth`: the path that is asked whether a user may do everything"),
                BackendSetting.text("aclcheck-uri", "`go-auth`: the path that is asked about topics"),
                BackendSetting.choice(
                        "params-mode", "json", List.of("json", "form"), "`go-auth`: the form of requests"),
                BackendSetting.choice(
                        "response-mode",
                        "status",
                        List.of("status", "json", "text"),
                        "`go-auth`: what says yes: the status, `Ok` in JSON, or the text `ok`"),
                BackendSetting.file(
                        "ca", "certificates of the authorities that are trusted, in PEM; without it those of Java"));
    }

    @Override
    public AccessBackend open(BackendSettings settings, BackendContext context) {
        if (!settings.has("url") && !settings.has("acl.url")) {
            throw settings.problem("url", "must be set");
        }
        return settings.text("style").equals("emqx") ? emqx(settings, context) : goAuth(settings, context);
    }

    private static AccessBackend emqx(BackendSettings settings, BackendContext context) {
        HttpQuestion users = settings.has("url")
                ? HttpQuestion.emqx(settings, "", Template.Scope.USER, fields("clientid", "username", "password"))
                : null;
        HttpQuestion topics = settings.has("acl.url")
                ? HttpQuestion.emqx(
                        settings, "acl.", Template.Scope.TOPIC, fields("clientid", "username", "action", "topic"))
                : null;
        checkAuthorities(settings, users != null && users.isTls() || topics != null && topics.isTls());
        return new EmqxBackend(new HttpSender(context, Authorities.of(settings, "ca")), users, topics);
    }

    private static AccessBackend goAuth(BackendSettings settings, BackendContext context) {
        HttpQuestion users = HttpQuestion.goAuth(
                settings, "getuser-uri", Template.Scope.USER, fields("username", "password", "clientid"));
        HttpQuestion superusers = optional(settings, "superuser-uri", Template.Scope.USER, fields("username"));
        Map<String, String> action = fields("username", "clientid", "topic");
        action.put("acc", "${access}");
        HttpQuestion topics = optional(settings, "aclcheck-uri", Template.Scope.TOPIC, action);
        checkAuthorities(settings, users.isTls());
        GoAuthBackend.ResponseMode mode = GoAuthBackend.ResponseMode.valueOf(
                settings.text("response-mode").toUpperCase(Locale.ROOT));
        return new GoAuthBackend(
                new HttpSender(context, Authorities.of(settings, "ca")), mode, users, superusers, topics);
    }

    private static void checkAuthorities(BackendSettings settings, boolean tls) {
        if (settings.has("ca") && !tls) {
            throw settings.problem("ca", "needs a URL that begins with https://");
        }
    }

    private static @Nullable HttpQuestion optional(
            BackendSettings settings, String key, Template.Scope scope, Map<String, String> fields) {
        return settings.has(key) ? HttpQuestion.goAuth(settings, key, scope, fields) : null;
    }

    private static Map<String, String> fields(String... names) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (String name : names) {
            fields.put(name, "${" + name + "}");
        }
        return fields;
    }
}
