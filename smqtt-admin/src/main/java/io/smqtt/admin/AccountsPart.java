// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import io.smqtt.BrokerModule;
import io.smqtt.ReloadResult;
import io.smqtt.admin.account.AccountFiles;
import io.smqtt.admin.account.Accounts;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ManagementConfig;
import io.smqtt.thread.AnyThread;
import java.time.InstantSource;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** The life of live objects and accounts. */
@AnyThread
final class AccountsPart implements BrokerModule {

    private static final Logger LOG = LoggerFactory.getLogger(AccountsPart.class);

    /** Takes about a tenth of a second. People log in seldom, and tokens and API keys need no such hash. */
    private static final int ITERATIONS = 210_000;

    private final LiveObjects objects = new LiveObjects();
    private final Accounts accounts = new Accounts(objects, System::nanoTime, InstantSource.system(), ITERATIONS);

    private final boolean hasPage;
    private final AccountFiles files;
    private final List<String> warnings;

    /**
     * Creates the parts; nothing is started. Reads the files of users and keys.
     *
     * @param config the files
     * @param hasPage whether people log in at a page of this port, so that they need a first password
     * @throws ConfigurationException if a file cannot be used
     */
    AccountsPart(ManagementConfig config, boolean hasPage) {
        this.hasPage = hasPage;
        files = new AccountFiles(config.usersFile(), config.apiKeysFile(), accounts);
        warnings = AccountFiles.warnings(config.usersFile(), config.apiKeysFile());
    }

    LiveObjects objects() {
        return objects;
    }

    Accounts accounts() {
        return accounts;
    }

    @Override
    public Mono<Void> start(Core core) {
        return objects.start(core).doFirst(() -> warnings.forEach(LOG::warn));
    }

    /** By now the objects of the store are applied, and those of other nodes usually are. */
    @Override
    public void listening() {
        if (hasPage) {
            accounts.printFirstPassword();
        }
    }

    @Override
    public synchronized ReloadResult reload() {
        return files.reload();
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> {
            objects.stop();
            accounts.close();
        });
    }
}
