// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.ldap;

import com.unboundid.ldap.sdk.BindRequest;
import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.SimpleBindRequest;
import io.smqtt.ReloadResult;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessBackendFactory;
import io.smqtt.access.backend.BackendContext;
import io.smqtt.access.backend.BackendSecret;
import io.smqtt.access.backend.BackendSetting;
import io.smqtt.access.backend.BackendSettings;
import io.smqtt.access.hash.PasswordChecks;
import io.smqtt.access.hash.PasswordFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** Makes backends of the type {@code ldap}. */
public final class LdapBackendFactory implements AccessBackendFactory {

    private static final int THREAD_IDLE_SECONDS = 60;
    private static final int MILLIS = 1_000;
    private static final String BIND_DN = "bind-dn";

    /** Creates the factory, for {@link java.util.ServiceLoader}. */
    public LdapBackendFactory() {}

    @Override
    public String type() {
        return "ldap";
    }

    @Override
    public List<BackendSetting> settings() {
        return List.of(
                BackendSetting.list("url", "the servers, `ldap://HOST:PORT` or `ldaps://HOST:PORT`, tried in order")
                        .required(),
                BackendSetting.flag("start-tls", false, "whether connections of `ldap://` change to TLS (StartTLS)"),
                BackendSetting.file(
                        "ca", "certificates of the authorities that are trusted, in PEM; without it those of Java"),
                BackendSetting.text(
                        BIND_DN, "the account that searches for entries; without it searches are anonymous"),
                BackendSetting.text("bind-password", "the password of `bind-dn`")
                        .secret(),
                BackendSetting.file("bind-password-file", "a file with the password of `bind-dn`"),
                BackendSetting.text("base-dn", "where entries are searched for; may have placeholders")
                        .required(),
                BackendSetting.text(
                        "filter", "(objectClass=mqttUser)", "the filter of the search; may have placeholders"),
                BackendSetting.choice(
                        "scope",
                        "sub",
                        List.of("base", "one", "sub"),
                        "what is searched: the entry `base-dn`, the entries below it (`one`), or all of it (`sub`)"),
                BackendSetting.choice(
                        "method",
                        "bind",
                        List.of("bind", "hash"),
                        "who checks passwords: the server by a `bind`, or the broker by the `hash` in the entry"),
                BackendSetting.text("password-attribute", "userPassword", "`hash`: the attribute with the password"),
                BackendSetting.text(
                        "superuser-attribute", "isSuperuser", "the attribute that is `true` for superusers"),
                BackendSetting.text(
                        "enabled-attribute", "isEnabled", "the attribute that is `false` for users that are refused"),
                BackendSetting.entries(
                        "client-attributes", "attributes of the client, with the attribute of the entry for each"),
                BackendSetting.text(
                        "publish-attribute", "mqttPublishTopic", "the attribute with topics that may be published to"),
                BackendSetting.text(
                        "subscribe-attribute",
                        "mqttSubscriptionTopic",
                        "the attribute with topics that may be subscribed to"),
                BackendSetting.text("all-attribute", "mqttPubSubTopic", "the attribute with topics for both"),
                BackendSetting.text("rule-attribute", "mqttAclRule", "the attribute with access rules in JSON"));
    }

    @Override
    public AccessBackend open(BackendSettings settings, BackendContext context) {
        long timeoutMillis = context.config().timeout().toMillis();
        EntrySearch search = EntrySearch.of(settings, (int) Math.max(1, timeoutMillis / MILLIS));
        LdapBackend.UserAttributes user = new LdapBackend.UserAttributes(
                settings.text("method").equals("hash") ? settings.text("password-attribute") : null,
                settings.text("superuser-attribute"),
                settings.text("enabled-attribute"),
                settings.entries("client-attributes"));
        BackendSecret password = password(settings);
        LdapServers servers = LdapServers.of(settings, context);
        BindRequest account = password == null ? null : account(settings, password);
        Directory directory = new Directory(servers.open(account), servers.open(null));
        return new LdapBackend(
                context.name(),
                () -> {
                    ReloadResult result = password == null ? ReloadResult.NOTHING : password.reload();
                    if (password != null) {
                        directory.searchAs(account(settings, password));
                    }
                    return result;
                },
                search,
                user,
                EntryRules.of(settings),
                directory,
                threads(context),
                new PasswordChecks(PasswordFormat.selfContained(), context));
    }

    /** As many threads as requests at the same time. */
    private static Scheduler threads(BackendContext context) {
        return Schedulers.newBoundedElastic(
                context.config().maxConcurrent(),
                Math.max(1, context.config().maxWaiting()),
                "smqtt-access-" + context.name(),
                THREAD_IDLE_SECONDS,
                true);
    }

    private static BindRequest account(BackendSettings settings, BackendSecret password) {
        return new SimpleBindRequest(settings.text(BIND_DN), password.text());
    }

    /** The password of the account that searches; null for anonymous searches. */
    private static @Nullable BackendSecret password(BackendSettings settings) {
        String name = settings.textOrNull(BIND_DN);
        BackendSecret password = BackendSecret.of(settings, "bind-password");
        if (name == null) {
            if (password != null) {
                throw settings.problem(
                        settings.has("bind-password") ? "bind-password" : "bind-password-file", "needs bind-dn");
            }
            return null;
        }
        if (!DN.isValidDN(name) || name.isBlank()) {
            throw settings.problem(BIND_DN, "must be a distinguished name such as cn=smqtt,dc=example,dc=org");
        }
        if (password == null || password.text().isEmpty()) {
            throw settings.problem(BIND_DN, "needs bind-password or bind-password-file");
        }
        return password;
    }
}
