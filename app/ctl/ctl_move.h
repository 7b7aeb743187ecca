#pragma once

namespace CLI {
class App;
}

namespace vedette::app {

// `vedette ctl org-move`: an organisation goes to another cell (store/move/org_move.h). It asks no
// admin port, since two databases and the keys of both cells are needed: it runs where --config and
// the environment are the old cell's, and --to-config is a copy of the new one's configuration,
// which is read without the environment. The command's status goes to `status`; what goes wrong is
// thrown, as main takes it.
void AddOrgMove(CLI::App& app, int* status);

}  // namespace vedette::app
