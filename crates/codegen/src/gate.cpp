// What LLVM's C interface cannot say: that a pass of code generation is left out (gate.rs).

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/OptBisect.h"

namespace {

class Gate final : public llvm::OptPassGate {
 public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override { return pass != "slsr"; }
};

Gate gate;

}  // namespace

extern "C" void warploom_close_gate(LLVMContextRef context) {
  llvm::unwrap(context)->setOptPassGate(gate);
}
